import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linked, resultOf } from '../../test/run-platform.ts'
import { start } from './test/broker-world.ts'

test('tokens and cost are on the execution when the response has arrived', async () => {
  const { ask, platform, row } = await start()
  await (await ask('anthropic/v1/messages')).text()
  await (await ask('anthropic/v1/messages')).text()
  const booked = await platform.row(row.id)
  assert.equal(booked.input_tokens, 200)
  assert.equal(booked.output_tokens, 20)
  assert.equal(booked.metered_requests, 2)
  assert.equal(booked.cost_micros, 2 * (100 * 15 + 10 * 75))
  assert.equal(booked.cost_estimated, 1, 'no row names claude-x')
  assert.equal(booked.model_used, 'claude-x')
  assert.equal(booked.context_used, 110)
})

test('an unknown model is booked at its family price as an estimate, never at zero', async () => {
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"type":"message","usage":{"input_tokens":100,"output_tokens":10}}')
    },
  })
  const names = ['claude-no-such-model', 'claude-sonnet-99', 'haiku-free']
  const booked: unknown[] = []
  for (const model of names) {
    const reply = await ask('anthropic/v1/messages', { body: JSON.stringify({ model, messages: [] }) })
    await reply.text()
    const { cost_micros, cost_estimated } = await platform.row(row.id)
    booked.push([cost_micros, cost_estimated])
  }
  assert.deepEqual(booked, [
    [2250, 1],
    [2250 + 450, 1],
    [2250 + 450 + 150, 1],
  ])
})

test('a stream without usage is booked by its length, as an estimate', async () => {
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let piece = 0; piece < 5; piece += 1)
        response.write('data: {"model":"gpt-6-sol","choices":[{"delta":{"content":"word"}}]}\n\n')
      response.end('data: [DONE]\n\n')
    },
  })
  const body = JSON.stringify({ model: 'gpt-6-sol', stream: true, messages: [{ content: 'x'.repeat(4000) }] })
  await (await ask('openai/v1/chat/completions', { body })).text()
  const { cost_micros, cost_estimated, input_tokens, output_tokens } = await platform.row(row.id)
  const input = Math.ceil(body.length / 4)
  assert.deepEqual([input_tokens, output_tokens], [input, 5])
  assert.deepEqual([cost_micros, cost_estimated], [input * 2 + 5 * 10, 1])
})

test('usage is booked when the client disconnects before the provider reports it', async () => {
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"response.output_text.delta","delta":"word"}\n\n')
    },
  })
  const leave = new AbortController()
  const body = JSON.stringify({ model: 'gpt-6-sol', stream: true, input: 'x'.repeat(4000) })
  const reply = await ask('openai/v1/responses', { body, signal: leave.signal })
  await reply.body?.getReader().read()
  leave.abort()
  while ((await platform.row(row.id)).metered_requests === 0)
    await new Promise((resolve) => setImmediate(resolve))
  const booked = await platform.row(row.id)
  assert.deepEqual([booked.cost_estimated, (booked.cost_micros ?? 0) > 2000], [1, true])
})

test('a stream that fails before its first output costs nothing', async () => {
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"type":"response.failed","response":{"model":"gpt-6-sol","usage":null}}\n\n')
    },
  })
  await (
    await ask('openai/v1/responses', { body: JSON.stringify({ model: 'gpt-6-sol', input: 'x' }) })
  ).text()
  assert.deepEqual((await platform.row(row.id)).metered_requests, 0)
})

test('an imported price applies to the next request, which is no longer an estimate', async () => {
  const { ask, platform, row } = await start()
  const models = [{ id: 'claude-x', input: 1, output: 2 }]
  const anthropic = { as_of: '2026-12-01', source: 'test', models, families: [] }
  await platform.prices.put({ format: 1, providers: { anthropic } })
  await (await ask('anthropic/v1/messages')).text()
  const { cost_micros, cost_estimated } = await platform.row(row.id)
  assert.deepEqual([cost_micros, cost_estimated], [100 + 2 * 10, 0])
})

test("the broker's figures take precedence over those of the runtime", async () => {
  const { ask, platform, row, run } = await start()
  await (await ask('anthropic/v1/messages')).text()
  const metadata = { cost_usd: 99, input_tokens: 9999 }
  await platform.dispatch.handlers.result(linked, resultOf(run, { metadata }))
  const ended = await platform.row(row.id)
  assert.equal(ended.cost_micros, 2250)
  assert.equal(ended.input_tokens, 100)
})
