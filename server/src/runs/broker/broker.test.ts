import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { runtimes } from '@roost/contracts/agents/agent'
import { startModelServer } from '@roost/test-support/model/index'
import { accept, linked, resultOf } from '../../test/run-platform.ts'
import { bodyOf, listen, respond, start, type Upstream } from './test/broker-world.ts'

test("the provider gets the platform's key and no credential of the container", async () => {
  const { ask, requests, run } = await start()
  const reply = await ask('anthropic/v1/messages?beta=true', {
    headers: { cookie: 'a=b', 'anthropic-version': '2023-06-01' },
  })
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('request-id'), 'r1')
  const [request] = requests
  assert.equal(request?.url, '/v1/messages?beta=true')
  assert.equal(request?.headers['x-api-key'], 'provider-key-1')
  assert.equal(request?.headers['anthropic-version'], '2023-06-01')
  assert.equal(request?.headers.cookie, undefined)
  assert.ok(!JSON.stringify(requests).includes(run.broker.token))
})

test('counts requests by provider and result, and their tokens and cost', async (t) => {
  const answers = [200, 429, 500, 400]
  const { ask, platform } = await start({
    upstream: async (request, response) => {
      const status = answers.shift() ?? 200
      if (status === 200) return respond(request, response, Buffer.alloc(0))
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    },
  })
  for (const _ of [...answers]) await (await ask('anthropic/v1/messages')).text()
  await ask('anthropic/v1/messages', { headers: { 'x-api-key': 'nonsense' } })
  await ask('nobody/v1/messages', { headers: { 'x-api-key': 'nonsense' } })
  const { modelRequests, modelSeconds, modelTokens, modelCost } = platform.meters
  // The client has the whole response a moment before the broker counts it.
  await t.waitFor(async () => assert.match(await modelSeconds.text(), /_count\{provider="anthropic"\} 6\n/))
  const counts = [...(await modelRequests.text()).matchAll(/provider="(.+?)",result="(.+?)"\} (\d+)/g)]
  assert.deepEqual(
    counts.map(([, provider, result, count]) => `${provider} ${result} ${count}`).toSorted(),
    ['client_error 1', 'ok 1', 'rate_limited 1', 'refused 2', 'server_error 1'].map(
      (each) => `anthropic ${each}`,
    ),
  )
  assert.match(await modelTokens.text(), /\{provider="anthropic",kind="input"\} 100\n/)
  assert.match(await modelCost.text(), /\nroost_model_cost_usd_total\{provider="anthropic"\} 0\.\d+\n/)
})

test('Google and OpenAI get their keys in their own headers', async () => {
  const { ask, requests, run, url, platform } = await start()
  const body = JSON.stringify({ contents: [] })
  platform.runtime.name = 'gemini-cli'
  await fetch(`${url}/broker/google/v1beta/models/gemini-x:generateContent?key=${run.broker.token}`, {
    method: 'POST',
    body,
  })
  await ask('openai/v1/responses', { body: JSON.stringify({ model: 'gpt-5', input: 'x' }) })
  assert.equal(requests[0]?.headers['x-goog-api-key'], 'provider-key-1')
  assert.equal(requests[0]?.url, '/v1beta/models/gemini-x:generateContent')
  assert.equal(requests[1]?.headers.authorization, 'Bearer provider-key-1')
})

test('the first part of a response arrives while the rest is still being written', async () => {
  const more = Promise.withResolvers<void>()
  const { ask, platform, row } = await start({
    upstream: async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        'event: message_start\ndata: {"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":7,"output_tokens":1}}}\n\n',
      )
      await more.promise
      response.end('event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":5}}\n\n')
    },
  })
  const reply = await ask('anthropic/v1/messages')
  const reader = reply.body?.getReader() ?? assert.fail()
  const first = await reader.read()
  assert.match(new TextDecoder().decode(first.value), /message_start/)
  more.resolve()
  const last = await reader.read()
  assert.match(new TextDecoder().decode(last.value), /message_delta/)
  const booked = await platform.row(row.id)
  assert.deepEqual([booked.input_tokens, booked.output_tokens], [7, 5], 'booked before its bytes went on')
})

test('401 for an invalid token, 403 after the run has ended, in the format of the provider', async () => {
  const { ask, platform, run, requests } = await start()
  for (const token of ['nonsense', 'provider-key-1', `${run.broker.token}x`]) {
    const reply = await ask('anthropic/v1/messages', { headers: { 'x-api-key': token } })
    assert.equal(reply.status, 401)
    assert.equal(reply.headers.get('x-should-retry'), 'false')
    assert.equal((await bodyOf(reply)).error.type, 'authentication_error')
  }
  const google = await ask('google/v1beta/models/gemini-x:generateContent', { headers: { 'x-api-key': 'x' } })
  assert.equal((await bodyOf(google)).error.status, 'UNAUTHENTICATED')
  await platform.dispatch.handlers.result(linked, resultOf(run))
  const ended = await ask('anthropic/v1/messages')
  assert.equal(ended.status, 403)
  assert.equal((await bodyOf(ended)).error.type, 'permission_error')
  assert.equal(requests.length, 0)
})

test("a conversation's token is valid while any of its turns runs", async () => {
  const { platform, url } = await start()
  platform.hooks.onTurn(async (_, row) => ({ message: row.message, resumeSessionId: null }))
  const turn = { kind: 'chat' as const, triggeredBy: 'chat' as const, sessionId: 's1' }
  const ask = async (token: string) =>
    (
      await fetch(`${url}/broker/anthropic/v1/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: '{"model":"claude-x"}',
      })
    ).status
  const tokens: string[] = []
  for (let number = 0; number < 2; number += 1) {
    const row = await accept(platform, turn)
    const { runs } = await platform.dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = runs[0] ?? assert.fail()
    tokens.push(run.broker.token)
    assert.equal(await ask(run.broker.token), 200)
    assert.equal((await platform.row(row.id)).input_tokens, 100, 'booked on the turn that runs')
    await platform.dispatch.handlers.result(linked, resultOf(run))
    assert.equal(await ask(run.broker.token), 403)
  }
  assert.equal(tokens[0], tokens[1])
})

test("403 for a provider other than that of the agent's runtime, which is never asked", async () => {
  const { platform, url, run, requests } = await start()
  const targets = {
    'claude-code': 'anthropic/v1/messages',
    'gemini-cli': 'google/v1beta/models/gemini-x:generateContent',
    codex: 'openai/v1/responses',
  } as const
  for (const runtime of runtimes) {
    platform.runtime.name = runtime
    for (const [owner, path] of Object.entries(targets)) {
      const reply = await fetch(`${url}/broker/${path}`, {
        method: 'POST',
        body: JSON.stringify({ model: owner === 'codex' ? 'gpt-5' : 'claude-x', messages: [] }),
        headers: { 'x-api-key': run.broker.token, 'content-type': 'application/json' },
      })
      assert.equal(reply.status, owner === runtime ? 200 : 403, `${runtime} ${path}`)
      await reply.text()
    }
  }
  assert.equal(requests.length, runtimes.length)
})

test('404 for models outside the offered families, which never reach the provider', async () => {
  const { ask, requests } = await start()
  for (const body of [
    '{"model":"llama-3","messages":[]}',
    `{"messages":[{"role":"user","content":"${'x'.repeat(300_000)}"}],"model":"o3"}`,
    '{"model":"claude-x","model":"o3"}',
  ]) {
    const reply = await ask('anthropic/v1/messages', { body })
    assert.equal(reply.status, 404)
    assert.equal(reply.headers.get('x-should-retry'), 'false')
    assert.match((await bodyOf(reply)).error.message, /llama-3|o3/)
  }
  const google = await ask('google/v1beta/models/palm-2:generateContent')
  assert.equal(google.status, 404)
  assert.deepEqual(requests, [])
})

test('404 for provider routes that runs may not use', async () => {
  const { ask, requests } = await start()
  for (const path of [
    'anthropic/v1/files',
    'openai/v1/files',
    'anthropic/v1/messages/batches',
    'nowhere/v1',
  ]) {
    assert.equal((await ask(path)).status, 404, path)
  }
  assert.deepEqual(requests, [])
})

test('503 not_configured without a key, in the format of each provider, marked as not retryable', async () => {
  const { ask } = await start({ providerKey: null })
  const reply = await ask('anthropic/v1/messages')
  assert.equal(reply.status, 503)
  assert.equal(reply.headers.get('x-should-retry'), 'false')
  const body = await bodyOf(reply)
  assert.equal(body.type, 'error')
  assert.match(body.error.message, /not_configured/)
  const openai = await bodyOf(await ask('openai/v1/responses'))
  assert.equal(openai.error.code, 'not_configured')
})

test('errors of the provider pass unchanged; permanent ones are marked as not retryable', async () => {
  for (const [status, mark] of [
    [400, 'false'],
    [401, 'false'],
    [403, 'false'],
    [404, 'false'],
    [429, null],
    [500, null],
    [529, null],
  ] as const) {
    const { ask } = await start({
      upstream: (_, response) => {
        response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' })
        response.end('{"type":"error","error":{"type":"x","message":"usage"}}')
      },
    })
    const reply = await ask('anthropic/v1/messages')
    assert.equal(reply.status, status)
    assert.equal(reply.headers.get('x-should-retry'), mark, `${status}`)
    assert.equal(reply.headers.get('retry-after'), '7')
    assert.equal((await bodyOf(reply)).error.type, 'x')
  }
})

test('502 when the provider is unreachable, retryable', async () => {
  const { ask } = await start({ providerUrl: 'http://127.0.0.1:1' })
  const reply = await ask('anthropic/v1/messages')
  assert.equal(reply.status, 502)
  assert.equal(reply.headers.get('x-should-retry'), null)
  assert.equal((await bodyOf(reply)).error.type, 'api_error')
})

test('an idle connection is closed before the time that the provider announces', async () => {
  const closed = Promise.withResolvers<void>()
  const upstream: Upstream = (request, response, body) => {
    request.socket.once('close', closed.resolve)
    response.setHeader('connection', 'keep-alive').setHeader('keep-alive', 'timeout=2')
    respond(request, response, body)
  }
  const { ask } = await start({ upstream })
  assert.equal((await ask('anthropic/v1/messages')).status, 200)
  await closed.promise
})

test('a client that disconnects aborts the request to the provider', async () => {
  const begun = Promise.withResolvers<void>()
  const broken = Promise.withResolvers<void>()
  const { ask, platform, row } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"message_start","message":{"usage":{"input_tokens":7}}}\n\n')
      response.once('close', () => broken.resolve())
      begun.resolve()
    },
  })
  const client = new AbortController()
  const reply = await ask('anthropic/v1/messages', { signal: client.signal })
  await reply.body?.getReader().read()
  await begun.promise
  client.abort()
  await broken.promise
  // Usage that the provider had reported before is booked.
  while ((await platform.row(row.id)).input_tokens !== 7)
    await new Promise((resolve) => setImmediate(resolve))
})

test('the end of a run aborts its open streams', async () => {
  const broken = Promise.withResolvers<void>()
  const { ask, platform, run } = await start({
    upstream: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {}\n\n')
      response.once('close', () => broken.resolve())
    },
  })
  await platform.events.relaying.start()
  const reply = await ask('anthropic/v1/messages')
  await reply.body?.getReader().read()
  await platform.dispatch.handlers.result(linked, resultOf(run))
  await platform.events.relaying.pass()
  await broken.promise
})

test('the end of a run aborts its requests before they are sent', async () => {
  const { ask, platform, row, requests } = await start()
  // Read between the check of the run and the request to the provider.
  Object.defineProperty(platform.runtime, 'name', {
    get() {
      const fields = { execution_id: row.id }
      platform.events.signal({ type: 'execution.finished', agent_names: [], agent_ids: [], fields })
      return 'claude-code'
    },
    set() {},
  })
  const reply = await ask('anthropic/v1/messages')
  assert.equal(reply.status, 502)
  assert.deepEqual(requests, [])
})

test('413 above 64 MiB; a request of 64 MiB is streamed through', async () => {
  let received = 0
  const { url, run } = await start({
    providerUrl: await listen(async (request, response) => {
      try {
        for await (const part of request) received += (part as Buffer).length
      } catch {
        return
      }
      respond(request, response, Buffer.alloc(0))
    }),
  })
  const head = '{"model":"claude-x","messages":["'
  const send = (size: number) =>
    new Promise<number>((resolve, reject) => {
      const request = httpRequest(
        `${url}/broker/anthropic/v1/messages`,
        { method: 'POST', headers: { 'x-api-key': run.broker.token } },
        (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      request.on('error', reject)
      request.write(head)
      const piece = Buffer.alloc(1024 * 1024, 'x')
      let left = size - head.length - 3
      const pump = () => {
        while (left > 0) {
          const part = piece.subarray(0, Math.min(left, piece.length))
          left -= part.length
          if (!request.write(part)) return request.once('drain', pump)
        }
        return request.end('"]}')
      }
      pump()
    })
  assert.equal(await send(64 * 1024 * 1024), 200)
  assert.equal(received, 64 * 1024 * 1024)
  const refused = await send(64 * 1024 * 1024 + 1).catch((error: { code?: string }) => error.code)
  // A client that is still writing may see the connection end before it reads the response.
  assert.ok(refused === 413 || refused === 'ECONNRESET' || refused === 'EPIPE', `${refused}`)
})

test('200 for a HEAD request of the base address without a token', async () => {
  const { url, requests } = await start()
  assert.equal((await fetch(`${url}/broker/anthropic/api/hello`, { method: 'HEAD' })).status, 200)
  assert.deepEqual(requests, [])
})

test('the three providers of the scripted model server stream and are metered', async () => {
  await using model = await startModelServer()
  const { ask, platform, row } = await start({ providerUrl: model.url })
  const say = '[[reply:hello there]] [[usage:30,12]]'
  const replies = [
    await ask('anthropic/v1/messages', {
      body: JSON.stringify({
        model: 'claude-sonnet-4-5',
        max_tokens: 100,
        stream: true,
        messages: [{ role: 'user', content: say }],
      }),
    }),
    await ask('google/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse', {
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: say }] }] }),
    }),
    await ask('openai/v1/responses', {
      body: JSON.stringify({
        model: 'gpt-5-codex',
        stream: true,
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: say }] }],
      }),
    }),
  ]
  for (const reply of replies) {
    assert.equal(reply.status, 200)
    assert.match(reply.headers.get('content-type') ?? '', /text\/event-stream/)
    await reply.text()
  }
  const booked = await platform.row(row.id)
  assert.equal(booked.metered_requests, 3)
  assert.deepEqual([booked.input_tokens, booked.output_tokens], [90, 36])
  assert.deepEqual(new Set(model.requests.map(({ key }) => key)), new Set(['provider-key-1']))
})
