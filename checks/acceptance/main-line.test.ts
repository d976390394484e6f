/** The first steps of a new user, with each runtime, on the real platform. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  answerText,
  canaries,
  collect,
  eventually,
  type Loose,
  type Platform,
  startPlatform,
} from './platform.ts'

const run = promisify(execFile)
const runtimes = [
  // `ownList`: how the CLI itself lists a skill that it has found.
  {
    runtime: 'claude-code',
    create: { runtime: 'claude-code' },
    ownList: /- weekly-report: .*\n(.*\n)*- weekly-report: /,
  },
  {
    runtime: 'gemini-cli',
    create: { runtime: 'gemini-cli' },
    ownList: /<location>\/home\/developer\/\.agents\/skills\/weekly-report\/SKILL\.md<\/location>/,
  },
  {
    runtime: 'codex',
    create: { template: 'codex-assistant' },
    ownList: /\(file: [^)]*weekly-report\/SKILL\.md\)/,
  },
] as const

let platform: Platform
before(async () => {
  platform = await startPlatform()
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

for (const { runtime, create, ownList } of runtimes) {
  describe(`an agent with ${runtime}`, () => {
    const name = `line-${runtime}`

    test('is created and runs', async () => {
      const reply = await platform.request('POST', '/api/agents', { name, ...create })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.json.status, 'running')
      assert.equal(reply.json.runtime, runtime)
    })

    test('streams the answer while the turn runs, and ends with done', async () => {
      const kinds: string[] = []
      let finishedWhenFirstLineCame: Loose = null
      const objects: Loose[] = []
      for await (const object of platform.stream(`/api/agents/${name}/chat`, {
        message: 'hello\n[[reply:one two three four]] [[drip:20]]',
      })) {
        kinds.push(object.type)
        objects.push(object)
        if (object.type === 'system' && object.subtype === 'init') {
          const execution = await platform.request(
            'GET',
            `/api/agents/${name}/executions/${objects[0].execution_id}`,
          )
          finishedWhenFirstLineCame = execution.json.status
        }
      }
      assert.equal(objects[0].subtype, 'accepted')
      assert.equal(finishedWhenFirstLineCame, 'running')
      assert.equal(answerText(objects), 'one two three four')
      const done = objects.at(-1)
      assert.equal(done.type, 'done')
      assert.equal(done.status, 'success')
      assert.equal(done.response, 'one two three four')
      assert.ok(done.metadata.input_tokens > 0, 'tokens are counted')
      assert.ok(done.metadata.cost_usd > 0, 'cost is counted')
    })

    test('finds its assigned skills through the CLI’s own discovery', async () => {
      const assigned = await platform.request('POST', `/api/agents/${name}/skills/weekly-report`)
      assert.equal(assigned.json.delivery?.status, 'injected', assigned.text)
      const objects = await collect(platform.stream(`/api/agents/${name}/chat`, { message: '[[system]]' }))
      assert.match(answerText(objects), ownList)
    })

    test('remembers the previous turn', async () => {
      await collect(
        platform.stream(`/api/agents/${name}/chat`, { message: 'the word is mangrove [[reply:noted]]' }),
      )
      const objects = await collect(
        platform.stream(`/api/agents/${name}/chat`, { message: '[[recall:mangrove]]' }),
      )
      assert.equal(answerText(objects), 'recall=yes')
    })

    test('uses a tool in its own workspace, and the file can be read', async () => {
      const objects = await collect(
        platform.stream(`/api/agents/${name}/chat`, {
          message: '[[tool:Bash:echo from-the-agent > note.txt]] [[reply:written]]',
        }),
      )
      assert.equal(answerText(objects), 'written')
      assert.ok(
        objects.some(
          (object) =>
            object.type === 'assistant' &&
            object.message.content.some((block: Loose) => block.type === 'tool_use'),
        ),
      )
      const file = await platform.request('GET', `/api/agents/${name}/files/download?path=note.txt`)
      assert.equal(file.text, 'from-the-agent\n')
    })

    test('holds no provider key: not in inspect, environment, arguments, logs or transcripts', async () => {
      const inspect = await run('docker', ['inspect', `agent-${name}`]).catch(() => ({ stdout: '' }))
      const processes = await run('docker', [
        'exec',
        `agent-${name}`,
        'sh',
        '-c',
        'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; env',
      ]).catch(() => ({ stdout: '' }))
      const logs = await platform.request('GET', `/api/agents/${name}/logs?tail=5000`)
      const executions = await platform.request('GET', `/api/agents/${name}/executions`)
      const transcripts = await Promise.all(
        executions.json.map((execution: Loose) =>
          platform.request('GET', `/api/agents/${name}/executions/${execution.id}/log`),
        ),
      )
      const searched = [
        inspect.stdout,
        processes.stdout,
        logs.text,
        executions.text,
        ...transcripts.map((reply) => reply.text),
      ].join('\n')
      assert.ok(searched.length > 1000, 'the search covers enough text')
      for (const key of Object.values(canaries))
        assert.ok(!searched.includes(key), `found ${key.slice(0, 12)}…`)
    })
  })
}

test("the broker sends the provider's key to the provider", () => {
  const keys = new Set(platform.model.requests.map((request) => request.key))
  for (const key of Object.values(canaries)) assert.ok(keys.has(key), `${key.slice(0, 12)}… did not arrive`)
  assert.equal(keys.size, 3)
})

test("the platform's own log contains no key, token or password", () => {
  const output = platform.output()
  assert.ok(output.length > 100, 'the search covers enough text')
  for (const key of [...Object.values(canaries), platform.token]) assert.ok(!output.includes(key))
})

test('an agent that is stopped and started again keeps its files and its memory', async () => {
  const stopped = await platform.request('POST', '/api/agents/line-claude-code/stop')
  assert.equal(stopped.status, 200)
  assert.equal((await platform.request('GET', '/api/agents/line-claude-code')).json.status, 'stopped')
  const refused = await platform.request('POST', '/api/agents/line-claude-code/chat', { message: 'hi' })
  assert.equal(refused.status, 503)
  assert.equal(refused.json.error, 'agent_not_running')
  assert.equal((await platform.request('POST', '/api/agents/line-claude-code/start')).status, 200)
  const objects = await collect(
    platform.stream('/api/agents/line-claude-code/chat', { message: '[[recall:mangrove]]' }),
  )
  assert.equal(answerText(objects), 'recall=yes')
  const file = await platform.request('GET', '/api/agents/line-claude-code/files/download?path=note.txt')
  assert.equal(file.text, 'from-the-agent\n')
})

test('killed during a turn: the record ends in success with the whole transcript', async () => {
  const message =
    'slow\n[[tool:Bash:for i in 1 2 3 4 5 6; do echo step-$i; sleep 1; done]] [[reply:survived the kill]]'
  const stream = platform.stream('/api/agents/line-claude-code/chat', { message })[Symbol.asyncIterator]()
  const accepted = (await stream.next()).value
  for (;;) {
    const next = await stream.next()
    if (next.value?.type === 'assistant') break
  }
  const ended = stream.next().catch(() => null)
  await platform.killApi()
  await ended
  await platform.startApi()
  // A restart invalidates every session.
  assert.equal((await platform.request('GET', '/api/users/me')).status, 401)
  const { signIn } = await import('./platform.ts')
  platform.token = await signIn(platform)
  const path = `/api/agents/line-claude-code/executions/${accepted.execution_id}`
  const execution = await eventually(
    () => platform.request('GET', path),
    (reply) => !['queued', 'running'].includes(reply.json.status),
  )
  assert.equal(execution.json.status, 'success', execution.text)
  assert.equal(execution.json.response, 'survived the kill')
  const log = (await platform.request('GET', `${path}/log`)).json.log as Loose[]
  assert.deepEqual(
    log.map((line) => line._n),
    log.map((_, index) => index + 1),
    'lines are numbered without gap or repeat',
  )
  const results = log.filter((line) => line.type === 'user').flatMap((line) => line.message.content)
  assert.match(JSON.stringify(results), /step-6/)
  assert.equal(log.filter((line) => line.type === 'result').length, 1)
})

test('deleting an agent leaves no container, volume or row', async () => {
  for (const { runtime } of runtimes) {
    const reply = await platform.request('DELETE', `/api/agents/line-${runtime}`)
    assert.equal(reply.status, 200, reply.text)
    assert.equal((await platform.request('GET', `/api/agents/line-${runtime}`)).status, 404)
  }
  const containers = await run('docker', ['ps', '-a', '--format', '{{.Names}}'])
  const volumes = await run('docker', ['volume', 'ls', '--format', '{{.Name}}'])
  assert.doesNotMatch(containers.stdout, /agent-line-/)
  assert.doesNotMatch(volumes.stdout, /agent-line-/)
})
