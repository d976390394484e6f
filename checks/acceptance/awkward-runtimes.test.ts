/** Runtimes that misbehave: each run ends with the right status and a named reason, and nothing of it stays. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent, docker, execution, isOver, untilExecution } from './steps.ts'

const name = 'qa-awkward'
const container = `agent-${name}`
const stallSeconds = 15
let platform: Platform
before(async () => {
  platform = await startPlatform({ env: { ROOST_STALL_SECONDS: String(stallSeconds) } })
  await createAgent(platform, name, { resources: { memory: '1g' } })
  await putCli()
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

/** Takes the place of the CLI in this one container. */
async function putCli(): Promise<void> {
  const program = readFileSync(join(import.meta.dirname, 'awkward-cli.ts'), 'utf8')
  await write('/opt/awkward-cli.ts', program)
  const path = await docker('exec', container, 'sh', '-c', 'command -v claude')
  await docker('exec', '-u', 'root', container, 'rm', path)
  await write(path, '#!/bin/sh\nexec node /opt/awkward-cli.ts\n')
  await docker('exec', '-u', 'root', container, 'chmod', '755', path)
}

function write(path: string, text: string): Promise<void> {
  return new Promise((done, refuse) => {
    const args = ['exec', '-i', '-u', 'root', container, 'sh', '-c', 'cat > "$1"', 'sh', path]
    const child = spawn('docker', args, { stdio: ['pipe', 'ignore', 'inherit'] })
    child.once('exit', (code) => (code === 0 ? done() : refuse(new Error(`docker exec ended with ${code}`))))
    child.stdin.end(text)
  })
}

async function begin(behaviour: string, over: object = {}): Promise<string> {
  const body = { message: `do it [[awkward:${behaviour}]]`, async_mode: true, ...over }
  const { status, json, text } = await platform.request('POST', `/api/agents/${name}/task`, body)
  assert.equal(status, 200, text)
  return json.execution_id
}
const end = async (behaviour: string, over: object = {}): Promise<Loose> =>
  untilExecution(platform, name, await begin(behaviour, over), isOver)
const told = ({ status, error_code, terminal_reason }: Loose) => [status, error_code, terminal_reason]

/** Processes that carry the mark of a run, as their own user sees them: the container's root may not. */
async function marked(): Promise<string[]> {
  const script =
    "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ 2>/dev/null | grep -q '^ROOST_EXECUTION_ID=' && tr '\\0' ' ' < $p/cmdline && echo; done; true"
  const found = await docker('exec', '-u', 'developer', container, 'sh', '-c', script)
  return found.split('\n').filter((line) => line.trim() !== '')
}
const nothingLeft = () => eventually(marked, (found) => found.length === 0)

const apiMegabytes = () =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${platform.apiPid()}/status`, 'utf8'))?.[1]) / 1024

test('each way to misbehave ends as what it is, leaves no process, and costs the platform no memory', async (t) => {
  await end('plain')
  const before = apiMegabytes()

  await t.test('a result and no end of the process: success, at once', async () => {
    const row = await end('result-then-hangs')
    assert.deepEqual([row.status, row.response], ['success', 'said'])
    assert.ok(row.duration_ms < stallSeconds * 1000, `took ${row.duration_ms} ms`)
    await nothingLeft()
  })

  await t.test('half a line and then nothing: stalled', async () => {
    const row = await end('half-a-line')
    assert.deepEqual(told(row), ['failed', 'stalled', 'stall_no_output'])
    assert.match(row.error, /wrote no output for 15 seconds/)
    await nothingLeft()
  })

  await t.test('a line of 50 MB: success, the transcript has its beginning', async () => {
    const row = await end('fifty-megabytes')
    assert.deepEqual([row.status, row.response], ['success', 'long'])
    const { log } = (await platform.request('GET', `/api/agents/${name}/executions/${row.id}/log`)).json
    const [cut] = log.filter((line: Loose) => line._truncated)
    assert.ok(cut._length > 50 * 1024 * 1024 && JSON.stringify(cut).length < 1024 * 1024)
    await nothingLeft()
  })

  await t.test('50 MB that are no JSON: passed over', async () => {
    const row = await end('fifty-megabytes-without-json')
    assert.deepEqual([row.status, row.response], ['success', 'noise'])
    await nothingLeft()
  })

  await t.test('bytes that are no UTF-8: replaced', async () => {
    const row = await end('invalid-utf8')
    assert.deepEqual([row.status, row.response], ['success', 'readable'])
    const { text } = await platform.request('GET', `/api/agents/${name}/executions/${row.id}/log`)
    assert.match(text, /caf\ufffd/)
    await nothingLeft()
  })

  await t.test(
    'a child outside the process group goes with its run, whether the run ended well or not',
    async () => {
      assert.equal((await end('leaves-a-daemon')).status, 'success')
      await nothingLeft()
      const killed = await end('daemon-then-dies')
      assert.deepEqual(told(killed), ['failed', 'no_result', 'empty_result'])
      await nothingLeft()
    },
  )

  await t.test('over the memory limit: failed as oom, and the agent goes on', async () => {
    const row = await end('eats-memory')
    assert.deepEqual(told(row), ['failed', 'oom', 'crashed'])
    assert.match(row.error, /memory/)
    await nothingLeft()
    assert.equal((await end('plain')).status, 'success')
  })

  await t.test('a tool over the memory limit: the tool goes, the run says so', async () => {
    const row = await end('tool-eats-memory')
    assert.deepEqual([row.status, row.response], ['success', 'tool ended by SIGKILL'])
    await nothingLeft()
  })

  await t.test('no result: failed with what it said, or that it said nothing', async () => {
    assert.deepEqual(told(await end('silent')), ['failed', 'no_result', 'empty_result'])
    const loud = await end('cries-and-dies')
    assert.deepEqual(told(loud), ['failed', 'agent_error', 'crashed'])
    assert.match(loud.error, /ended with code 3: everything is on fire/)
  })

  await t.test('a process that ignores every polite signal is ended by terminate', async () => {
    const id = await begin('half-a-line')
    await untilExecution(platform, name, id, (row) => row.status === 'running' && !row.parked)
    assert.ok((await marked()).length > 0, 'what is looked for can be seen')
    const { json } = await platform.request('POST', `/api/agents/${name}/executions/${id}/terminate`)
    assert.equal(json.status, 'terminated')
    assert.deepEqual(told(await execution(platform, name, id)), ['cancelled', 'user_cancelled', 'cancelled'])
    await nothingLeft()
  })

  const grown = apiMegabytes() - before
  assert.ok(grown < 64, `the API grew by ${grown.toFixed(0)} MB`)
  t.diagnostic(`the API grew by ${grown.toFixed(0)} MB`)
  const { json } = await platform.request('GET', '/api/agents/slots')
  assert.deepEqual([json.agents[name].active, json.agents[name].queued], [0, 0])
})
