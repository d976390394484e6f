import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Run } from '@roost/contracts/link/runs'
import { systemClock } from './kit/clock.ts'
import { markedProcesses } from './processes/tree.ts'
import { seenRun } from './runtimes/suite.ts'
import { openSpool } from './spool/spool.ts'
import { startTestAgent, type TestAgent } from './test/agent.ts'
import { aRun, attachmentBytes } from './test/platform.ts'

async function finish(t: TestAgent, overrides: Partial<Run>) {
  const run = aRun(overrides)
  t.platform.enqueue(run)
  return await t.platform.result(run.execution_id)
}

async function begin(t: TestAgent, overrides: Partial<Run>) {
  const run = aRun(overrides)
  t.platform.enqueue(run)
  await t.platform.until(() => seenRun(t, run.execution_id).lines.length > 0, 'the first line')
  return run
}

const cancelOf = (run: Run) => ({
  execution_id: run.execution_id,
  claim_token: run.claim_token,
  grace_seconds: 5,
})

test('a link that breaks during a run causes no lost and no duplicate lines', async () => {
  await using t = await startTestAgent()
  let batches = 0
  t.platform.intercept = ({ t: type }) => {
    if (type !== 'lines') return undefined
    batches += 1
    // The platform processes the message, loses its answer, and then the link breaks.
    if (batches % 2 === 1) queueMicrotask(() => t.platform.breakLink())
    return batches % 2 === 1 ? 'lose' : undefined
  }
  const run = aRun({ message: '[[lines:300]][[sleep:0.2]][[lines:300]][[reply:end]]' })
  t.platform.enqueue(run)
  const result = await t.platform.result(run.execution_id)
  const { lines, results } = seenRun(t, run.execution_id)
  assert.equal(result.status, 'success')
  assert.equal(result.last_line, lines.length)
  assert.equal(results, 1)
  const numbers = lines.flatMap((line) => (line.type === 'user' ? line.message.content : []))
  assert.deepEqual(
    numbers.map(({ content }) => content),
    [...count(300), ...count(300)].map((number) => `line ${number}`),
  )
  assert.ok(t.platform.hellos.length > 1)
})

test('a result whose acknowledgement was lost is sent again and counted once', async () => {
  await using t = await startTestAgent()
  let lost = 0
  t.platform.intercept = ({ t: type }) => {
    if (type !== 'result' || lost > 0) return undefined
    lost += 1
    queueMicrotask(() => t.platform.breakLink())
    return 'lose'
  }
  const run = aRun({ message: '[[reply:once]]' })
  t.platform.enqueue(run)
  await t.platform.until(() => t.platform.hellos.length === 2, 'the second hello')
  // The hello lists the run; the platform already has its result and tells the agent to drop it.
  assert.deepEqual(
    t.platform.hellos[1]?.held.map(({ execution_id, state }) => [execution_id, state]),
    [[run.execution_id, 'finished']],
  )
  assert.equal(seenRun(t, run.execution_id).results, 1)
  assert.equal((await finish(t, {})).status, 'success')
})

test('after a platform restart the agent reconnects and reports the result of its run', async () => {
  await using t = await startTestAgent()
  const run = await begin(t, { message: '[[lines:5]][[sleep:0.5]][[lines:5]]' })
  await t.platform.stopListening()
  await t.platform.listen()
  await t.platform.until(() => t.platform.hellos.length === 2, 'the second hello')
  assert.equal((await t.platform.result(run.execution_id)).status, 'success')
})

test('a run claimed by another agent is stopped and dropped', async () => {
  await using t = await startTestAgent()
  const run = await begin(t, { message: '[[lines:1]][[sleep:0.2]][[lines:1]][[hang]]' })
  const pid = await t.platform.until(() => seenRun(t, run.execution_id).started[0], 'started')
  seenRun(t, run.execution_id).token = 2
  const next = await finish(t, { message: '[[reply:next]]' })
  assert.equal(next.status, 'success')
  await t.platform.until(() => markedProcesses(run.execution_id).length === 0, 'the end of its processes')
  assert.equal(isAlive(pid), false)
  assert.equal(seenRun(t, run.execution_id).results, 0)
})

test('a run that the platform drops in its hello response is stopped and dropped', async () => {
  await using t = await startTestAgent()
  const run = await begin(t, { message: '[[lines:1]][[hang]]' })
  seenRun(t, run.execution_id).token = 2
  t.platform.breakLink()
  await t.platform.until(() => t.platform.hellos.length === 2, 'the second hello')
  const next = await finish(t, {})
  assert.equal(next.status, 'success')
  await t.platform.until(() => markedProcesses(run.execution_id).length === 0, 'the end of its processes')
  t.platform.breakLink()
  const hello = await t.platform.until(() => t.platform.hellos[2], 'the third hello')
  assert.deepEqual(hello.held, [])
})

test('after a restart, a run that never started is dropped so that the platform can assign it again', async () => {
  await using first = await startTestAgent()
  const spool = openSpool(join(first.place.root, 'volume', 'program', 'spool'), systemClock)
  const [waiting, spawned] = [aRun(), aRun()]
  for (const run of [waiting, spawned])
    spool.open({ executionId: run.execution_id, claimToken: 1, kind: 'task' })
  spool.get(spawned.execution_id)?.markSpawned()
  await using t = await startTestAgent({ place: first.place })
  const hello = await t.platform.until(() => t.platform.hellos[0], 'the hello')
  assert.deepEqual(
    hello.held.map(({ execution_id, state }) => [execution_id, state]),
    [[spawned.execution_id, 'finished']],
  )
})

test('a run that the end of the program interrupts is reported as lost before the link closes', async () => {
  await using t = await startTestAgent({ settings: { parallel_limit: 2 } })
  const run = await begin(t, { message: '[[lines:3]][[hang]]' })
  await t.agent.close(5000)
  const { results, lines } = seenRun(t, run.execution_id)
  assert.equal(results, 1)
  assert.partialDeepStrictEqual(lines.at(-1), { type: 'error', error: 'agent_lost', retryable: true })
  const result = await t.platform.result(run.execution_id)
  assert.deepEqual([result.status, result.error_code], ['failed', 'agent_lost'])
  assert.equal(result.error, 'The container of the agent was stopped in the middle of this run.')
  assert.deepEqual(markedProcesses(run.execution_id), [])
  await using next = await startTestAgent({ place: t.place })
  const hello = await next.platform.until(() => next.platform.hellos[0], 'the hello')
  assert.deepEqual(hello.held, [], 'nothing is reported twice')
})

test('without the platform the program ends nevertheless, and its next start reports the run', async () => {
  await using t = await startTestAgent()
  const run = await begin(t, { message: '[[lines:1]][[hang]]' })
  t.platform.intercept = ({ t: type }) => (type === 'lines' || type === 'result' ? 'lose' : undefined)
  await t.agent.close(100)
  await using next = await startTestAgent({ place: t.place })
  const hello = await next.platform.until(() => next.platform.hellos[0], 'the hello')
  assert.deepEqual(
    hello.held.map(({ execution_id, state }) => [execution_id, state]),
    [[run.execution_id, 'finished']],
  )
})

test('an agent claims no more runs than it has slots', async () => {
  await using t = await startTestAgent({ settings: { parallel_limit: 2 } })
  const runs = [0, 1, 2].map(() => aRun({ message: '[[lines:1]][[hang]]' }))
  for (const run of runs) t.platform.enqueue(run)
  const [first, second, third] = runs
  assert.ok(first && second && third)
  for (const run of [first, second])
    await t.platform.until(() => seenRun(t, run.execution_id).lines.length > 0, 'both first lines')
  assert.equal(seenRun(t, third.execution_id).started.length, 0)
  await t.platform.call('cancel', cancelOf(first))
  await t.platform.until(() => seenRun(t, third.execution_id).lines.length > 0, 'the third run')
})

test('cancel returns the state in which it found the run', async () => {
  await using t = await startTestAgent()
  await t.platform.until(() => t.platform.hellos.length === 1, 'the hello')
  assert.equal((await t.platform.call('cancel', cancelOf(aRun()))).state, 'unknown')
  const run = await begin(t, { message: '[[lines:1]][[hang]]' })
  const other = { ...cancelOf(run), claim_token: 7 }
  assert.equal((await t.platform.call('cancel', other)).state, 'unknown')
  const stopped = await t.platform.call('cancel', cancelOf(run))
  assert.equal(stopped.state, 'stopped')
  assert.equal(stopped.returncode, -2)
  assert.equal((await t.platform.result(run.execution_id)).status, 'cancelled')
})

test('a cancelled run that waits for its session is parked and never starts', async () => {
  await using t = await startTestAgent()
  const first = await begin(t, { kind: 'chat', session_id: 's', message: '[[lines:1]][[hang]]' })
  const second = aRun({ kind: 'chat', session_id: 's', message: '[[reply:never]]' })
  t.platform.enqueue(second)
  const state = async () => (await t.platform.call('cancel', cancelOf(second))).state
  let answer = await state()
  while (answer === 'unknown') answer = await state()
  assert.equal(answer, 'parked')
  await t.platform.call('cancel', cancelOf(first))
  const result = await t.platform.result(second.execution_id)
  assert.equal(result.status, 'cancelled')
  assert.deepEqual(seenRun(t, second.execution_id).started, [])
})

test('a turn over its time limit fails as timeout, a silent one as stalled', async () => {
  await using t = await startTestAgent({ settings: { stall_seconds: 1 } })
  const slow = await finish(t, { message: '[[hang]]', timeout_seconds: 0.3 })
  assert.equal(slow.error_code, 'timeout')
  assert.equal(slow.terminal_reason, 'max_duration')
  const silent = await finish(t, { message: '[[hang]]' })
  assert.equal(silent.error_code, 'stalled')
  assert.equal(silent.terminal_reason, 'stall_no_output')
})

test('a process that ends without a result is reported with its output', async () => {
  await using t = await startTestAgent()
  const silent = await finish(t, { message: '[[exit:0]]' })
  assert.equal(silent.error_code, 'no_result')
  const loud = await finish(t, { message: '[[exit:3]]' })
  assert.equal(loud.error_code, 'agent_error')
  assert.match(loud.error ?? '', /ended with code 3: scripted exit 3/)
})

test('a tool that left a daemon behind does not keep the daemon alive', async () => {
  await using t = await startTestAgent()
  const result = await finish(t, { message: '[[daemon]]' })
  const pid = Number(result.response)
  assert.ok(pid > 1)
  await t.platform.until(() => !isAlive(pid), 'the end of the daemon')
})

test('a 50 MB line is truncated in the transcript and keeps its original length', async () => {
  await using t = await startTestAgent()
  const run = aRun({ message: `[[big:${50 * 1024 * 1024}]][[reply:survived]]` })
  t.platform.enqueue(run)
  const result = await t.platform.result(run.execution_id)
  assert.equal(result.response, 'survived')
  const line = seenRun(t, run.execution_id).lines.find(({ type }) => type === 'user')
  assert.ok(line && JSON.stringify(line).length <= 1024 * 1024)
  assert.partialDeepStrictEqual(line, { _truncated: true })
  assert.ok('_length' in line && Number(line._length) > 50 * 1024 * 1024)
})

test('the .env of the workspace reaches the runtime, without the variables of the platform', async () => {
  await using t = await startTestAgent()
  writeFileSync(
    join(t.place.home, '.env'),
    'MY_KEY="of mine"\nROOST_AGENT_KEY=stolen\nANTHROPIC_BASE_URL=x\n',
  )
  assert.equal((await finish(t, { message: '[[env:MY_KEY]]' })).response, 'of mine')
  for (const name of ['ROOST_AGENT_KEY', 'ANTHROPIC_BASE_URL'])
    assert.equal((await finish(t, { message: `[[env:${name}]]` })).response, '(unset)')
})

test('a conversation keeps its process until a change needs a new one', async () => {
  await using t = await startTestAgent()
  let resume_session_id: string | null = null
  const pid = async (overrides: Partial<Run> = {}) => {
    const about = { kind: 'chat' as const, session_id: 's', message: '[[pid]]', resume_session_id }
    const result = await finish(t, { ...about, ...overrides })
    resume_session_id = result.runtime_session_id
    return result.response
  }
  const first = await pid()
  assert.equal(await pid(), first)
  const restarted = [await pid({ model: 'other' }), await pid({ system_prompt: 'other' })]
  writeFileSync(join(t.place.home, '.env'), 'NEW_KEY=1')
  restarted.push(await pid())
  assert.equal(new Set([first, ...restarted]).size, 4)
  assert.equal(await pid(), restarted.at(-1))
})

test('the folder of a template from an earlier platform is copied before the first turn, and only once', async () => {
  await using first = await startTestAgent({ config: { template: '/nowhere' } })
  const template = join(first.place.root, 'own-template')
  mkdirSync(join(template, '.claude'), { recursive: true })
  writeFileSync(join(template, 'CLAUDE.md'), 'from the template')
  mkdirSync(join(template, 'shared-in', 'other'), { recursive: true })
  const place = { ...first.place, root: join(first.place.root, 'second'), [Symbol.dispose]: () => {} }
  place.home = join(place.root, 'home')
  mkdirSync(place.home, { recursive: true })
  const read = { message: '[[tool:Bash:cat CLAUDE.md; ls -A]]' }
  {
    await using t = await startTestAgent({ place, config: { template } })
    const { response } = await finish(t, read)
    for (const name of ['from the template', '.claude', 'uploads', 'content', '.tmp', '.roost-initialized'])
      assert.ok(response?.includes(name), `${name} in ${response}`)
    assert.ok(!response?.includes('shared-in'), 'shared-in is reserved for folders of other agents')
    writeFileSync(join(place.home, 'CLAUDE.md'), 'changed since')
  }
  await using t = await startTestAgent({ place, config: { template } })
  assert.match((await finish(t, read)).response ?? '', /changed since/)
})

test('setup.sh runs at every start', async () => {
  await using first = await startTestAgent()
  const folder = join(first.place.home, '.roost')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'setup.sh'), 'mkfifo made; echo ran > made')
  await using t = await startTestAgent({ place: first.place, platform: first.platform })
  await t.platform.until(() => t.platform.hellos.length === 2, 'the second agent')
  assert.match(
    (await finish(t, { message: '[[tool:Bash:while [ ! -p made ]; do :; done; cat made]]' })).response ?? '',
    /ran/,
  )
})

test('attachments too large for the claim are read in chunks', async () => {
  await using t = await startTestAgent()
  const bytes = Buffer.alloc(2_500_000, 'abc\n')
  const run = aRun({
    message: 'see',
    attachments: [
      { name: '../../evil/data.txt', mimetype: 'text/plain', size: bytes.length, data_base64: null },
    ],
  })
  attachmentBytes.set(`${run.execution_id}/0`, bytes)
  t.platform.enqueue(run)
  const result = await t.platform.result(run.execution_id)
  assert.equal(result.status, 'success', JSON.stringify(result))
  assert.ok(readFileSync(join(t.place.home, 'uploads', 'data.txt')).equals(bytes))
})

test('a changed setting takes effect without reconnecting', async () => {
  await using t = await startTestAgent()
  const settings = { ...t.platform.settings, parallel_limit: 1 }
  await t.platform.until(() => t.platform.hellos.length === 1, 'the hello')
  const first = await begin(t, { message: '[[lines:1]][[hang]]' })
  assert.equal((await t.platform.call('settings', { settings })).ok, true)
  const second = aRun({ message: '[[reply:after]]' })
  t.platform.enqueue(second)
  assert.equal((await t.platform.call('cancel', cancelOf(first))).state, 'stopped')
  assert.equal((await t.platform.result(second.execution_id)).response, 'after')
})

test('unknown and invalid requests get named errors', async () => {
  await using t = await startTestAgent()
  await t.platform.until(() => t.platform.hellos.length === 1, 'the hello')
  await assert.rejects(t.platform.call('fs.nothing' as 'info', {}), { code: 'unknown_message' })
  await assert.rejects(t.platform.call('fs.stat', { path: 7 as unknown as string }), {
    code: 'invalid_message',
  })
})

function count(to: number): number[] {
  return Array.from({ length: to }, (_, index) => index + 1)
}

function isAlive(pid: number): boolean {
  try {
    // A killed process stays a zombie until its parent reaps it.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
