/** Twenty callers terminate one run while it is claimed, started and finished: one wins, and its result is true. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent, isOver, untilExecution } from './steps.ts'

const name = 'qa-races'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: object) =>
  platform.request(method, `/api/agents/${name}/${path}`, body)

/** Starts a run that writes its name to a file as soon as a runtime works on it. */
async function startRun(round: string): Promise<string> {
  const message = `[[tool:Bash:echo ${round} >> /home/developer/worked]] [[reply:${round}]]`
  const { status, json, text } = await api('POST', 'task', { message, async_mode: true })
  assert.equal(status, 200, text)
  return json.execution_id
}
const terminateByTwenty = async (id: string): Promise<string[]> => {
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => api('POST', `executions/${id}/terminate`)),
  )
  for (const { status, json } of replies) {
    assert.equal(status, 200)
    assert.equal(json.execution_id, id)
  }
  return replies.map(({ json }) => json.status)
}
/** How long an undisturbed run takes here and now. */
async function usualMs(): Promise<number> {
  const { created_at, completed_at } = await untilExecution(platform, name, await startRun('probe'), isOver)
  return Date.parse(completed_at) - Date.parse(created_at)
}
const startedRounds = async () => (await api('GET', 'files/download?path=worked')).text.split('\n')

/** Whoever won: there is at most one result, and it matches record and runtime. */
async function assertConsistent(round: string, id: string, results: string[]): Promise<string> {
  const row: Loose = await untilExecution(platform, name, id, isOver)
  const winners = results.filter((result) => result !== 'already_finished')
  assert.ok(winners.length <= 1, `${round}: ${winners.join(', ')}`)
  const [result = 'already_finished'] = winners
  if (result === 'already_finished') {
    assert.deepEqual([row.status, row.response], ['success', round])
    return result
  }
  assert.deepEqual([row.status, row.error_code], ['cancelled', 'user_cancelled'], `${round}: ${result}`)
  assert.match(row.error, /Cancelled by admin/)
  if (result === 'cancelled_while_queued') assert.equal(row.started_at, null)
  if (result !== 'terminated')
    assert.ok(!(await startedRounds()).includes(round), `${round}: ${result}, and it ran`)
  return result
}

test('during claim and start: from acceptance on, step by step', async (t) => {
  const capacity = await api('PUT', 'capacity', { max_parallel_tasks: 1 })
  assert.equal(capacity.status, 200, capacity.text)
  const usualDuration = await usualMs()
  const seen = new Set<string>()
  // On a machine that has become slower since the probe, later rounds are needed to meet more than a waiting run.
  for (let round = 0; round < 10 || (seen.size === 1 && round < 40); round += 1) {
    // The previous run holds the only slot, so the first rounds meet a waiting run, claimed when that one ends.
    const previous = await startRun(`ahead-${round}`)
    const id = await startRun(`claim-${round}`)
    // Each round tests another moment.
    await pause(usualDuration * (round / 9) * 1.5)
    seen.add(await assertConsistent(`claim-${round}`, id, await terminateByTwenty(id)))
    await untilExecution(platform, name, previous, isOver)
  }
  t.diagnostic([...seen].join(', '))
  assert.ok(seen.size > 1, `every round met the same: ${[...seen].join(', ')}`)
})

test('during the result: around the usual duration of a run', async (t) => {
  const usualDuration = await usualMs()
  const seen = new Set<string>()
  for (let round = 0; round < 12; round += 1) {
    const id = await startRun(`result-${round}`)
    await pause(usualDuration * (0.7 + round * 0.05))
    seen.add(await assertConsistent(`result-${round}`, id, await terminateByTwenty(id)))
  }
  t.diagnostic([...seen].join(', '))
  const { json } = await platform.request('GET', '/api/agents/slots')
  assert.deepEqual([json.agents[name].active, json.agents[name].queued], [0, 0])
})
