/** Costs of runs: with the real CLIs in their containers, known and unknown models, and imported prices. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Loose, type Platform, startPlatform } from './platform.ts'
import { agentKeyOf, chat, createAgent, execution } from './steps.ts'

const name = 'qa-prices'
const unknown = 'claude-next-9'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const get = async (path: string) => (await platform.request('GET', `/api/${path}`)).json
const row = (id: string) => execution(platform, name, id)

async function task(agent: string, body: object = {}): Promise<Loose> {
  const message = '[[usage:1200,345]] [[reply:done]]'
  const reply = await platform.request('POST', `/api/agents/${agent}/task`, { message, ...body })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.json.response, 'done')
  return execution(platform, agent, reply.headers.get('x-execution-id') ?? assert.fail('no id'))
}

/** The cost that the runtime wrote to the transcript. */
async function transcriptCost(id: string): Promise<number> {
  const { log } = await get(`agents/${name}/executions/${id}/log`)
  return log.findLast(({ type }: Loose) => type === 'result').total_cost_usd
}

/** Each request is recorded in whole micro-dollars. */
function assertSame(cost: number, transcript: number, what: string): void {
  assert.ok(cost > 0 && Math.abs(cost - transcript) < 5e-6, `${what}: ${cost}, transcript ${transcript}`)
}

test('the cost of a run matches its transcript for known models, and for each turn of a conversation', async () => {
  for (const model of [null, 'opus', 'sonnet', 'haiku', 'fable', 'claude-opus-4-5']) {
    const run = await task(name, { model })
    assertSame(run.cost, await transcriptCost(run.id), `${model}`)
    assert.equal(run.cost_estimated, false, `${model}: ${run.model_used}`)
  }
  let total = 0
  for (const turn of [1, 2, 3]) {
    const { json } = await chat(platform, name, `[[usage:${turn}000,50]] [[reply:ok]]`)
    const { cost } = await row(json.execution.id)
    assertSame(cost, await transcriptCost(json.execution.id), `turn ${turn}`)
    total += cost
    assert.deepEqual([json.metadata.cost_usd, json.metadata.cost_estimated], [cost, false])
    assert.ok(Math.abs(json.session.total_cost - total) < 1e-9)
  }
})

test('an unknown model uses the price of its family, and each reported cost is marked as estimated', async () => {
  const run = await task(name, { model: unknown })
  assert.ok(run.cost > 0)
  assert.deepEqual([run.cost_estimated, run.model_used], [true, unknown])
  const listed = (await get(`agents/${name}/executions`)).find(({ id }: Loose) => id === run.id)
  assert.equal(listed.cost_estimated, true)
  assert.equal((await get('executions/stats')).cost_estimated, true)
  assert.equal((await get(`agents/${name}/analytics`)).cost_estimated, true)
  assert.equal((await get(`agents/${name}/token-stats`)).last_24h.cost_estimated, true)
  const { summary, cost_by_model } = await get('ops/costs')
  assert.equal(summary.cost_estimated, true)
  const marks = Object.fromEntries(cost_by_model.map((each: Loose) => [each.model, each.cost_estimated]))
  assert.deepEqual([marks[unknown], marks['claude-opus-5-5']], [true, false])
  const { json } = await chat(platform, name, { message: '[[reply:ok]]', model: unknown })
  assert.deepEqual([json.metadata.cost_estimated, json.session.cost_estimated], [true, true])
  const { json: loop } = await platform.request('GET', `/api/agents/${name}/spend-cap`)
  assert.equal(loop.cost_estimated, true)
})

test('an admin imports prices, which apply to the next request; an agent cannot', async () => {
  const models = [{ id: unknown, input: 1000, output: 2000 }]
  const anthropic = { as_of: '2026-12-01', source: 'Our contract', models }
  const body = { format: 1, providers: { anthropic } }
  const path = '/api/settings/model-prices'
  const token = await agentKeyOf(name)
  const refused = await platform.request('PUT', path, body, { token })
  assert.equal(refused.status, 403, refused.text)
  const put = await platform.request('PUT', path, body)
  assert.equal(put.status, 200, put.text)
  const run = await task(name, { model: unknown })
  assert.equal(run.cost_estimated, false)
  assert.ok(run.cost >= (1200 * 1000 + 345 * 2000) / 1e6, `${run.cost}`)
  const { entries } = await get('audit-log?event_type=configuration')
  const entry = entries.find(({ event_action }: Loose) => event_action === 'put_model_prices')
  assert.deepEqual(entry.details.anthropic.ids, [unknown])
  assert.equal((await platform.request('DELETE', path)).json.custom, null)
  assert.equal((await task(name, { model: unknown })).cost_estimated, true)
})

for (const runtime of ['gemini-cli', 'codex']) {
  test(`the price table contains the default models of ${runtime}`, async () => {
    const agent = `qa-prices-${runtime}`
    await createAgent(platform, agent, runtime === 'codex' ? { template: 'codex-assistant' } : { runtime })
    const run = await task(agent)
    assert.ok(run.cost > 0, run.model_used)
    assert.equal(run.cost_estimated, false, run.model_used)
  })
}
