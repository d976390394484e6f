import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelCallStore } from '../executions/index.ts'
import { start, type Upstream } from './test/broker-world.ts'

const streamed: Upstream = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = [
    { type: 'message_start', message: { model: 'claude-y', usage: { input_tokens: 7, output_tokens: 1 } } },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: 'hello' } },
    { type: 'message_delta', usage: { output_tokens: 30 } },
    { type: 'message_stop' },
  ]
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

test('a streamed call is stored with its tokens, its cost and the time to first token', async () => {
  const { ask, platform, row } = await start({ upstream: streamed })
  await (await ask('anthropic/v1/messages')).text()
  const [call, ...more] = await modelCallStore(platform.db).of(row.id)
  assert.equal(more.length, 0)
  const { provider, model, status, input_tokens, output_tokens, cost, cost_estimated } = call ?? assert.fail()
  assert.deepEqual(
    { provider, model, status, input_tokens, output_tokens, cost_estimated },
    {
      ...{ provider: 'anthropic', model: 'claude-y', status: 200, input_tokens: 7, output_tokens: 30 },
      cost_estimated: true,
    },
  )
  assert.equal(cost * 1_000_000, (await platform.row(row.id)).cost_micros)
  const { first_token_ms, duration_ms } = call ?? assert.fail()
  assert.ok(first_token_ms !== null && first_token_ms <= duration_ms, `${first_token_ms} ${duration_ms}`)
})

test('the costs of the calls of a run add up to the cost of the run', async () => {
  const { ask, platform, row } = await start()
  for (const _ of [1, 2, 3]) await (await ask('anthropic/v1/messages')).text()
  const calls = await modelCallStore(platform.db).of(row.id)
  assert.deepEqual(
    calls.map(({ first_token_ms }) => first_token_ms),
    [null, null, null],
    'a response in one piece has no first token',
  )
  const total = calls.reduce((sum, { cost }) => sum + cost * 1_000_000, 0)
  assert.equal(Math.round(total), (await platform.row(row.id)).cost_micros)
})

test('a failed call is stored without tokens; token counts and refusals are no calls', async () => {
  const { ask, platform, row } = await start({
    upstream: (_, response) => void response.writeHead(529, { 'content-type': 'application/json' }).end('{}'),
  })
  await (await ask('anthropic/v1/messages')).text()
  await (await ask('anthropic/v1/messages/count_tokens')).text()
  await (await ask('anthropic/v1/messages', { headers: { 'x-api-key': 'wrong' } })).text()
  const calls = await eventuallyCalls(platform.db, row.id)
  assert.deepEqual(
    calls.map(({ status, model, input_tokens, cost }) => ({ status, model, input_tokens, cost })),
    [{ status: 529, model: 'claude-x', input_tokens: 0, cost: 0 }],
  )
})

test('a provider that does not respond leaves a call without a status', async () => {
  const { ask, platform, row } = await start({ upstream: (request) => void request.socket.destroy() })
  await (await ask('anthropic/v1/messages')).text()
  const [call] = await eventuallyCalls(platform.db, row.id)
  assert.equal(call?.status, null)
})

/** Calls without usage are stored after their response. */
async function eventuallyCalls(db: Parameters<typeof modelCallStore>[0], id: string) {
  for (;;) {
    const calls = await modelCallStore(db).of(id)
    if (calls.length > 0) return calls
    await new Promise((resolve) => setImmediate(resolve))
  }
}
