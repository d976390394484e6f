/** Misbehaving runtimes: each run ends with the right status and reason, and leaves no process. */
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

/** Replaces the CLI in this container. */
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

async function startRun(behaviour: string, overrides: object = {}): Promise<string> {
  const body = { message: `do it [[awkward:${behaviour}]]`, async_mode: true, ...overrides }
  const { status, json, text } = await platform.request('POST', `/api/agents/${name}/task`, body)
  assert.equal(status, 200, text)
  return json.execution_id
}
const runToEnd = async (behaviour: string, overrides: object = {}): Promise<Loose> =>
  untilExecution(platform, name, await startRun(behaviour, overrides), isOver)
const outcome = ({ status, error_code, terminal_reason }: Loose) => [status, error_code, terminal_reason]

/** Processes with a run's mark, listed as their own user, because the container's root may not read them. */
async function markedProcesses(): Promise<string[]> {
  const script =
    "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ 2>/dev/null | grep -q '^ROOST_EXECUTION_ID=' && tr '\\0' ' ' < $p/cmdline && echo; done; true"
  const found = await docker('exec', '-u', 'developer', container, 'sh', '-c', script)
  return found.split('\n').filter((line) => line.trim() !== '')
}
const nothingLeft = () => eventually(markedProcesses, (found) => found.length === 0)

const apiMegabytes = () =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${platform.apiPid()}/status`, 'utf8'))?.[1]) / 1024

test('each misbehaviour gets its status, leaves no process and costs the platform no memory', async (t) => {
  await runToEnd('plain')
  const before = apiMegabytes()

  await t.test('a result without an exit: success immediately', async () => {
    const row = await runToEnd('result-then-hangs')
    assert.deepEqual([row.status, row.response], ['success', 'said'])
    assert.ok(row.duration_ms < stallSeconds * 1000, `took ${row.duration_ms} ms`)
    await nothingLeft()
  })

  await t.test('half a line, then silence: stalled', async () => {
    const row = await runToEnd('half-a-line')
    assert.deepEqual(outcome(row), ['failed', 'stalled', 'stall_no_output'])
    assert.match(row.error, /wrote no output for 15 seconds/)
    await nothingLeft()
  })

  await t.test('a line of 50 MB: success, truncated in the transcript', async () => {
    const row = await runToEnd('fifty-megabytes')
    assert.deepEqual([row.status, row.response], ['success', 'long'])
    const { log } = (await platform.request('GET', `/api/agents/${name}/executions/${row.id}/log`)).json
    const [cut] = log.filter((line: Loose) => line._truncated)
    assert.ok(cut._length > 50 * 1024 * 1024 && JSON.stringify(cut).length < 1024 * 1024)
    await nothingLeft()
  })

  await t.test('50 MB of invalid JSON: ignored', async () => {
    const row = await runToEnd('fifty-megabytes-without-json')
    assert.deepEqual([row.status, row.response], ['success', 'noise'])
    await nothingLeft()
  })

  await t.test('invalid UTF-8: replaced', async () => {
    const row = await runToEnd('invalid-utf8')
    assert.deepEqual([row.status, row.response], ['success', 'readable'])
    const { text } = await platform.request('GET', `/api/agents/${name}/executions/${row.id}/log`)
    assert.match(text, /caf\ufffd/)
    await nothingLeft()
  })

  await t.test(
    'a child outside the process group is killed with its run, after success and failure',
    async () => {
      assert.equal((await runToEnd('leaves-a-daemon')).status, 'success')
      await nothingLeft()
      const killed = await runToEnd('daemon-then-dies')
      assert.deepEqual(outcome(killed), ['failed', 'no_result', 'empty_result'])
      await nothingLeft()
    },
  )

  await t.test('over the memory limit: failed with oom, and the agent continues', async () => {
    const row = await runToEnd('eats-memory')
    assert.deepEqual(outcome(row), ['failed', 'oom', 'crashed'])
    assert.match(row.error, /memory/)
    await nothingLeft()
    assert.equal((await runToEnd('plain')).status, 'success')
  })

  await t.test('a tool over the memory limit: only the tool is killed, and the run reports it', async () => {
    const row = await runToEnd('tool-eats-memory')
    assert.deepEqual([row.status, row.response], ['success', 'tool ended by SIGKILL'])
    await nothingLeft()
  })

  await t.test('no result: failed with its error output, or with no_result', async () => {
    assert.deepEqual(outcome(await runToEnd('silent')), ['failed', 'no_result', 'empty_result'])
    const loud = await runToEnd('cries-and-dies')
    assert.deepEqual(outcome(loud), ['failed', 'agent_error', 'crashed'])
    assert.match(loud.error, /ended with code 3: everything is on fire/)
  })

  await t.test('terminate kills a process that ignores signals', async () => {
    const id = await startRun('half-a-line')
    await untilExecution(platform, name, id, (row) => row.status === 'running' && !row.parked)
    assert.ok((await markedProcesses()).length > 0, 'the search finds running processes')
    const { json } = await platform.request('POST', `/api/agents/${name}/executions/${id}/terminate`)
    assert.equal(json.status, 'terminated')
    assert.deepEqual(outcome(await execution(platform, name, id)), [
      'cancelled',
      'user_cancelled',
      'cancelled',
    ])
    await nothingLeft()
  })

  const grown = apiMegabytes() - before
  assert.ok(grown < 64, `the API grew by ${grown.toFixed(0)} MB`)
  t.diagnostic(`the API grew by ${grown.toFixed(0)} MB`)
  const { json } = await platform.request('GET', '/api/agents/slots')
  assert.deepEqual([json.agents[name].active, json.agents[name].queued], [0, 0])
})
