/** Twenty callers end one run while it is claimed, started and finished: one wins, and its word is true. */
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

/** A run that writes its number down as soon as a runtime works on it. */
async function begin(round: string): Promise<string> {
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
/** What a run takes that nobody ends, on this machine at this time. */
async function usualMs(): Promise<number> {
  const { created_at, completed_at } = await untilExecution(platform, name, await begin('probe'), isOver)
  return Date.parse(completed_at) - Date.parse(created_at)
}
const workedOn = async () => (await api('GET', 'files/download?path=worked')).text.split('\n')

/** What must be true whoever won: one word, and record and runtime as it says. */
async function assertTrue(round: string, id: string, words: string[]): Promise<string> {
  const row: Loose = await untilExecution(platform, name, id, isOver)
  const won = words.filter((word) => word !== 'already_finished')
  assert.ok(won.length <= 1, `${round}: ${won.join(', ')}`)
  const [word = 'already_finished'] = won
  if (word === 'already_finished') {
    assert.deepEqual([row.status, row.response], ['success', round])
    return word
  }
  assert.deepEqual([row.status, row.error_code], ['cancelled', 'user_cancelled'], `${round}: ${word}`)
  assert.match(row.error, /Cancelled by admin/)
  if (word === 'cancelled_while_queued') assert.equal(row.started_at, null)
  if (word !== 'terminated') assert.ok(!(await workedOn()).includes(round), `${round}: ${word}, and it ran`)
  return word
}

test('against the claim and the start: from the moment of acceptance on, step by step', async (t) => {
  const capacity = await api('PUT', 'capacity', { max_parallel_tasks: 1 })
  assert.equal(capacity.status, 200, capacity.text)
  const usual = await usualMs()
  const seen = new Set<string>()
  for (let round = 0; round < 10; round += 1) {
    // The one ahead holds the only slot, so the first rounds meet a run that waits; it is claimed when that has ended.
    const ahead = await begin(`ahead-${round}`)
    const id = await begin(`claim-${round}`)
    // The moment is what the round is about.
    await pause(usual * (round / 9) * 1.5)
    seen.add(await assertTrue(`claim-${round}`, id, await terminateByTwenty(id)))
    await untilExecution(platform, name, ahead, isOver)
  }
  t.diagnostic([...seen].join(', '))
  assert.ok(seen.size > 1, `every round met the same: ${[...seen].join(', ')}`)
})

test('against the result: around the time that a run takes', async (t) => {
  const usual = await usualMs()
  const seen = new Set<string>()
  for (let round = 0; round < 12; round += 1) {
    const id = await begin(`result-${round}`)
    await pause(usual * (0.7 + round * 0.05))
    seen.add(await assertTrue(`result-${round}`, id, await terminateByTwenty(id)))
  }
  t.diagnostic([...seen].join(', '))
  const { json } = await platform.request('GET', '/api/agents/slots')
  assert.deepEqual([json.agents[name].active, json.agents[name].queued], [0, 0])
})
