import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { agentStore, blankRow } from '../../agents/records/index.ts'
import { secret } from '../../kit/secret.ts'
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
  const booked = await untilBooked(platform, row.id)
  assert.deepEqual([booked.cost_estimated, (booked.cost_micros ?? 0) > 2000], [1, true])
})

const anthropicEvents = (...events: { type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const begun = {
  type: 'message_start',
  message: { model: 'claude-x', usage: { input_tokens: 25, output_tokens: 1 } },
}
const written = { type: 'content_block_delta', delta: { type: 'text_delta', text: 'word '.repeat(80) } }

test('output before the last count is booked by its length when the client leaves', async () => {
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(anthropicEvents(begun, ...Array.from({ length: 50 }, () => written), { type: 'last' }))
    },
  })
  const leave = new AbortController()
  const reply = await ask('anthropic/v1/messages', { signal: leave.signal })
  let text = ''
  for await (const chunk of reply.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes('"last"')) break
  }
  leave.abort()
  const { input_tokens, output_tokens, cost_estimated } = await untilBooked(platform, row.id)
  assert.deepEqual([input_tokens, output_tokens, cost_estimated], [25, 50 * 100, 1])
})

test('a provider that stops before the last count is booked by the length of its output', async () => {
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(anthropicEvents(begun, written, { type: 'error' }))
    },
  })
  await (await ask('anthropic/v1/messages')).text()
  const { output_tokens, cost_estimated } = await platform.row(row.id)
  assert.deepEqual([output_tokens, cost_estimated], [100, 1])
})

test('a request that nobody waits for is booked by its length', async () => {
  const arrived = Promise.withResolvers<void>()
  const { ask, platform, row } = await start({ upstream: () => arrived.resolve() })
  const leave = new AbortController()
  const body = JSON.stringify({ model: 'claude-x', messages: [{ content: 'x'.repeat(4000) }] })
  const reply = ask('anthropic/v1/messages', { body, signal: leave.signal })
  await arrived.promise
  leave.abort()
  await assert.rejects(reply)
  const booked = await untilBooked(platform, row.id)
  const { input_tokens, output_tokens, cost_estimated } = booked
  assert.deepEqual([input_tokens, output_tokens, cost_estimated], [Math.ceil(body.length / 4), 0, 1])
  assert.equal(booked.context_used, 0, 'unknown')
})

test('the guess of an input counts a picture as one, and is never larger than the context window', async () => {
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {"choices":[{"delta":{"content":"word"}}]}\n\n')
    },
  })
  const inputOf = async (content: string) => {
    const before = (await platform.row(row.id)).input_tokens ?? 0
    const body = JSON.stringify({ model: 'gpt-6-sol', stream: true, messages: [{ content }] })
    await (await ask('openai/v1/chat/completions', { body })).text()
    return ((await platform.row(row.id)).input_tokens ?? 0) - before
  }
  assert.ok((await inputOf('x'.repeat(4_000_000))) < 100_000)
  const { context_max } = await platform.row(row.id)
  assert.equal(await inputOf('some words '.repeat(1_000_000)), context_max)
})

/** A provider that accepts connections and reads nothing. */
async function startSilent(protocol: 'http' | 'https') {
  const connected = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    socket.pause().on('error', () => {})
    connected.resolve()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close().unref())
  const { port } = server.address() as AddressInfo
  return {
    ...(await start({ providerUrl: `${protocol}://127.0.0.1:${port}` })),
    connected: connected.promise,
  }
}

test('a request that the provider has not received costs nothing', async (t) => {
  const { ask, platform, row, connected } = await startSilent('https')
  const leave = new AbortController()
  const reply = ask('anthropic/v1/messages', { signal: leave.signal })
  await connected
  leave.abort()
  await assert.rejects(reply)
  await t.waitFor(async () => assert.match(await platform.meters.modelSeconds.text(), /_count\{.+\} 1\n/))
  assert.equal((await platform.row(row.id)).metered_requests, 0)
})

test('a request of a run that ends during the upload costs nothing', async () => {
  const { ask, platform, row, connected } = await startSilent('http')
  const body = JSON.stringify({ model: 'claude-x', messages: [{ content: 'some words '.repeat(3_000_000) }] })
  const reply = ask('anthropic/v1/messages', { body }).catch(() => null)
  await connected
  const fields = { execution_id: row.id }
  platform.events.signal({ type: 'execution.finished', agent_names: [], agent_ids: [], fields })
  assert.ok([null, 502].includes((await reply)?.status ?? null))
  assert.equal((await platform.row(row.id)).metered_requests, 0)
})

test('a document without usage is booked by its length, and an error costs nothing', async () => {
  const answers = [500, 200]
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(answers.shift() ?? 200, { 'content-type': 'application/json' })
      const parts = [{ text: 'x'.repeat(4000) }]
      response.end(JSON.stringify({ candidates: [{ content: { parts } }], responseId: 'y'.repeat(4000) }))
    },
  })
  // Only the path decides whether a model is called.
  const path = 'google/v1beta/models/gemini-2.5-pro:generateContent?pageToken=countTokens'
  await (await ask(path)).text()
  assert.equal((await platform.row(row.id)).metered_requests, 0)
  await (await ask(path)).text()
  const { output_tokens, cost_estimated } = await platform.row(row.id)
  assert.deepEqual([output_tokens, cost_estimated], [1000, 1])
})

test('a selection of fields and a response in the background do not reach the provider', async () => {
  const { ask, requests } = await start()
  await (
    await ask('google/v1beta/models/gemini-x:generateContent?fields=candidates', {
      headers: { 'x-goog-fieldmask': 'candidates', 'x-http-method-override': 'GET' },
    })
  ).text()
  const [request] = requests
  assert.equal(request?.url, '/v1beta/models/gemini-x:generateContent')
  assert.deepEqual(
    [request?.headers['x-goog-fieldmask'], request?.headers['x-http-method-override']],
    [undefined, undefined],
  )
  const body = JSON.stringify({ model: 'gpt-5', background: true, store: true, input: 'x' })
  const reply = await ask('openai/v1/responses', { body })
  assert.equal(reply.status, 400)
  assert.match(await reply.text(), /background: this platform does not offer/)
  assert.equal(requests.length, 1)
})

test('a database error at the end of a response loses neither the cost nor the answer', async () => {
  const { ask, platform, row } = await start()
  const { atomically } = platform.db
  for (const isCommitted of [false, true]) {
    let faults = 1
    platform.db.atomically = async (work) => {
      if (faults > 0 && !isCommitted) {
        faults -= 1
        throw new Error('the connection broke')
      }
      const result = await atomically(work)
      if (faults-- > 0) throw new Error('the answer of the commit is lost')
      return result
    }
    const reply = await ask('anthropic/v1/messages')
    assert.match(await reply.text(), /usage/)
  }
  platform.db.atomically = atomically
  const { metered_requests, cost_micros } = await platform.row(row.id)
  assert.deepEqual([metered_requests, cost_micros], [2, 2 * 2250])
})

test('an answer arrives although the use of its subscription cannot be counted', async () => {
  const { ask, platform, row } = await start()
  const { providerSubscriptions, db } = platform
  const token = secret('sk-ant-oat-x')
  const plan = { subscription_type: null, rate_limit_tier: null, token }
  await providerSubscriptions.put({ name: 'plan', provider: 'anthropic', ...plan })
  const agent = { ...blankRow('scout', '2026-12-01T00:00:00.000Z'), id: 'a1', owner_id: 'u' }
  await db.atomically((tx) => agentStore(tx).insert({ ...agent, state: 'ready', status: 'running' }))
  await providerSubscriptions.assign({ id: 'a1', name: 'scout' }, 'plan')
  await sql`drop table provider_subscription_usage`.execute(platform.db.withTables())
  const reply = await ask('anthropic/v1/messages')
  assert.match(await reply.text(), /usage/)
  assert.equal((await platform.row(row.id)).cost_micros, 2250)
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

/** Booked after the client has left. */
async function untilBooked(platform: Awaited<ReturnType<typeof start>>['platform'], id: string) {
  for (;;) {
    const booked = await platform.row(id)
    if (booked.metered_requests > 0) return booked
    await new Promise((resolve) => setImmediate(resolve))
  }
}
