/**
 * Every coding CLI under every OCI runtime: text, a tool call, a resumed conversation and the terminal. Tests the
 * engine's default runtime, and the one that `./roost test --runtime NAME` names.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Platform, startPlatform } from './platform.ts'
import { answerOf, createAgent, docker, openTerminal } from './steps.ts'

let platform: Platform
before(async () => {
  // Without the installation's runtime, so that each agent has its own.
  platform = await startPlatform({ env: { ROOST_CONTAINER_RUNTIME: '' } })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  for (const line of matrixLines()) console.log(line)
})

const ask = (method: string, path: string, body?: object) =>
  platform.request(method, `/api/agents/${path}`, body)
/** Calls an endpoint that must succeed. */
async function call(method: string, path: string, body?: object) {
  const reply = await ask(method, path, body)
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
async function restart(name: string) {
  await call('POST', `${name}/stop`)
  return call('POST', `${name}/start`)
}

const clis = [
  { cli: 'claude-code', create: {} },
  { cli: 'gemini-cli', create: { runtime: 'gemini-cli' } },
  { cli: 'codex', create: { template: 'codex-assistant' } },
]

const steps: { step: string; run(name: string): Promise<void> }[] = [
  {
    step: 'text',
    async run(name) {
      assert.equal(await answerOf(platform, name, 'The word is quince. [[reply:noted]]'), 'noted')
    },
  },
  {
    step: 'tool call',
    async run(name) {
      const message = '[[tool:Bash:echo made by a tool > note.txt]] [[reply:written]]'
      assert.equal(await answerOf(platform, name, message), 'written')
      const file = await ask('GET', `${name}/files/download?path=note.txt`)
      assert.equal(file.text, 'made by a tool\n')
    },
  },
  {
    step: 'resume',
    async run(name) {
      await restart(name)
      assert.equal(await answerOf(platform, name, '[[recall:quince]]'), 'recall=yes')
    },
  },
  {
    step: 'terminal',
    async run(name) {
      const shell = await openTerminal(platform, name)
      await shell.until('$ ')
      shell.socket.send('{"type":"resize","cols":101,"rows":31}')
      shell.type('stty size; whoami\n')
      assert.match(await shell.until('developer\r\n'), /31 101\r\n/)
      shell.type('exit 7\n')
      assert.deepEqual(await shell.closed, { code: 1000, reason: 'exit 7' })
    },
  },
]

const engineDefault = 'runc'
const runtimes = [...new Set([engineDefault, process.env.ROOST_TEST_CONTAINER_RUNTIME ?? engineDefault])]
const cells = new Map<string, string>()

for (const runtime of runtimes) {
  for (const { cli, create } of clis) {
    describe(`${cli} under ${runtime}`, () => {
      const name = `qa-${runtime}-${cli}`

      before(async () => {
        await createAgent(platform, name, create)
        const reply = await call('PUT', `${name}/isolation`, { runtime })
        assert.equal(reply.effective_runtime, runtime)
        if (reply.restart_needed) assert.equal((await restart(name)).recreate_reason, 'isolation')
      })

      test('the container has the runtime, and its details name it', async () => {
        const { isolation } = (await ask('GET', name)).json
        assert.equal(isolation.runtime, runtime)
        assert.equal(await docker('inspect', '-f', '{{.HostConfig.Runtime}}', `agent-${name}`), runtime)
      })

      for (const { step, run } of steps) {
        test(step, async () => {
          const cell = `${runtime} ${cli} ${step}`
          cells.set(cell, 'FAILS')
          await run(name)
          cells.set(cell, 'works')
        })
      }
    })
  }
}

test('422 for a runtime that the engine does not list, with the field and the listed ones', async () => {
  const name = 'qa-unlisted'
  await createAgent(platform, name)
  const { status, json } = await ask('PUT', `${name}/isolation`, { runtime: 'roost-test-runtime' })
  assert.deepEqual([status, json.detail[0].loc], [422, ['body', 'runtime']])
  assert.match(json.detail[0].msg, /the container engine lists: .*runc/)
})

test('the platform does not start with a runtime that the engine does not list', async () => {
  const start = startPlatform({ env: { ROOST_CONTAINER_RUNTIME: 'roost-test-runtime' } })
  await assert.rejects(
    start,
    /ROOST_CONTAINER_RUNTIME must be a runtime that the container engine lists: .*runc/,
  )
})

/** One row for each runtime and CLI, one column for each step. */
function matrixLines(): string[] {
  const width = 12
  const row = (...columns: string[]) =>
    columns
      .map((column) => column.padEnd(width))
      .join(' ')
      .trimEnd()
  const names = steps.map(({ step }) => step)
  return [
    row('OCI runtime', 'CLI', ...names),
    ...runtimes.flatMap((runtime) =>
      clis.map(({ cli }) =>
        row(runtime, cli, ...names.map((step) => cells.get(`${runtime} ${cli} ${step}`) ?? 'not run')),
      ),
    ),
  ]
}
