import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { credentialHeaders } from '../../kit/provider-credential.ts'
import { errorBody } from './failures.ts'
import { createMeter } from './meter.ts'
import { createModelScanner } from './model-scanner.ts'
import {
  callsModel,
  credentialOf,
  forwardedReplyHeaders,
  forwardedRequestHeaders,
  isOfferedModel,
  readTarget,
  retryHeaders,
  upstreamUrl,
  withBetas,
} from './provider-rules.ts'
import { createBrokerTokens } from './tokens.ts'
import { noTokens } from './usage-rules.ts'

const mac = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest('base64url')

describe('tokens', () => {
  const tokens = createBrokerTokens(mac('k1'))
  const grant = { agentId: 'agent-1', kind: 'session', id: 'session_1' } as const

  test('a grant always has the same token, which contains the grant', () => {
    assert.equal(tokens.mint(grant), createBrokerTokens(mac('k1')).mint(grant))
    assert.deepEqual(tokens.read(tokens.mint(grant)), grant)
    const run = { agentId: 'a', kind: 'execution', id: 'e' } as const
    assert.deepEqual(tokens.read(tokens.mint(run)), run)
  })

  test('tokens of another key, modified and malformed tokens are invalid', () => {
    const token = tokens.mint(grant)
    assert.equal(createBrokerTokens(mac('k2')).read(token), null)
    for (const wrong of [
      '',
      'rbk_',
      token.slice(0, -1),
      `${token}x`,
      token.replace('.s.', '.e.'),
      'svc_mcp_x',
    ]) {
      assert.equal(tokens.read(wrong), null, wrong)
    }
    assert.equal(tokens.read(token.replace('agent-1', 'agent-2')), null)
  })
})

describe('routes', () => {
  const offered: [string, string, string, string | null][] = [
    ['POST', 'anthropic/v1/messages?beta=true', '/v1/messages?beta=true', null],
    ['POST', 'anthropic/v1/messages/count_tokens', '/v1/messages/count_tokens', null],
    ['GET', 'anthropic/v1/models', '/v1/models', null],
    [
      'POST',
      'google/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=rbk_x',
      '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
      'gemini-2.5-pro',
    ],
    ['POST', 'google/v1beta/models/x%41:generateContent', '/v1beta/models/x%41:generateContent', 'xA'],
    ['POST', 'openai/v1/responses', '/v1/responses', null],
    ['POST', 'openai/v1/chat/completions', '/v1/chat/completions', null],
  ]
  for (const [method, url, path, model] of offered) {
    test(`${method} ${url} is forwarded`, () => {
      const target = readTarget(method, url)
      assert.equal(target?.path, path)
      assert.equal(target?.model, model)
    })
  }

  const refused: [string, string][] = [
    ['GET', 'anthropic/v1/messages'],
    ['POST', 'anthropic/v1/messages/batches'],
    ['GET', 'anthropic/v1/organizations/api_keys'],
    ['POST', 'anthropic/v1/models/../messages'],
    ['POST', 'anthropic//v1/messages'],
    ['POST', 'anthropic/v1%2fmessages'],
    ['POST', 'anthropic/v1/%2e%2e/v1/messages'],
    ['POST', 'google/v1beta/models/a/b:generateContent'],
    ['POST', 'google/v1beta/files'],
    ['GET', 'openai/v1/responses/resp_1'],
    ['DELETE', 'openai/v1/models/gpt-5'],
    ['POST', 'mistral/v1/messages'],
    ['POST', ''],
    ['POST', '__proto__/v1/messages'],
  ]
  for (const [method, url] of refused) {
    test(`${method} ${url || '(nothing)'} is not offered`, () => assert.equal(readTarget(method, url), null))
  }

  test('a version in both base address and path appears once', () => {
    assert.equal(
      upstreamUrl('https://api.openai.com/v1', '/v1/responses').href,
      'https://api.openai.com/v1/responses',
    )
    assert.equal(
      upstreamUrl('https://api.openai.com/', '/v1/responses').href,
      'https://api.openai.com/v1/responses',
    )
    assert.equal(upstreamUrl('http://proxy/x', '/v1/messages').href, 'http://proxy/x/v1/messages')
  })
})

describe('models', () => {
  test('only the model families of the override rule are offered', () => {
    for (const model of ['claude-x', 'sonnet', 'opus[1m]', 'GPT-5', 'gemini-3', 'codex-mini']) {
      assert.ok(isOfferedModel(model), model)
    }
    for (const model of ['', ' ', 'o3', 'llama', 'text-embedding-3', 'my-claude-']) {
      assert.ok(!isOfferedModel(model), model)
    }
  })

  const found = (json: string, size: number) => {
    const scanner = createModelScanner()
    const bytes = Buffer.from(json)
    const models: string[] = []
    for (let at = 0; at < bytes.length; at += size)
      models.push(...scanner.feed(bytes.subarray(at, at + size)))
    return models
  }
  const bodies: [string, string[]][] = [
    ['{"model":"claude-a","messages":[]}', ['claude-a']],
    ['{"messages":[{"model":"inner"}],"model" : "claude-a"}', ['claude-a']],
    ['{"model":"claude-a","x":{"model":"inner"},"model":"o3"}', ['claude-a', 'o3']],
    ['{"mod\\u0065l":"o3"}', ['o3']],
    ['{"text":"say \\"model\\": \\"o3\\"","model":"gpt-5"}', ['gpt-5']],
    ['{"a":"model","b":"x"}', []],
    ['{"model":null,"b":"x"}', []],
    ['{"model":5,"b":"x","c":["model","y"]}', []],
    ['{"a":"\\\\","model":"gpt-5"}', ['gpt-5']],
    ['["model","o3"]', []],
    ['not json', []],
    [`{"model":"${'x'.repeat(500)}"}`, ['(a name of more than 400 characters)']],
    [`{"${'k'.repeat(500)}":1,"model":"ü-claude"}`, ['ü-claude']],
  ]
  for (const [body, models] of bodies) {
    test(`the models of ${body.slice(0, 60)}, in chunks of any size`, () => {
      for (const size of [1, 2, 3, 7, 1000]) assert.deepEqual(found(body, size), models, `pieces of ${size}`)
    })
  }
})

describe('credentials', () => {
  test('the broker token is found in every place where a client puts its key', () => {
    assert.equal(credentialOf({ authorization: 'Bearer t' }, ''), 't')
    assert.equal(credentialOf({ 'x-api-key': 't' }, ''), 't')
    assert.equal(credentialOf({ 'x-goog-api-key': 't' }, ''), 't')
    assert.equal(credentialOf({}, 'google/v1beta/models?key=t'), 't')
    assert.equal(credentialOf({ authorization: 'Basic eA==' }, 'x'), null)
  })

  test('keys, cookies, addresses and hop-by-hop headers of the container are not forwarded', () => {
    const forwarded = forwardedRequestHeaders({
      host: 'broker',
      authorization: 'Bearer t',
      'x-api-key': 't',
      'x-goog-api-key': 't',
      cookie: 'a=b',
      connection: 'keep-alive',
      'transfer-encoding': 'chunked',
      'accept-encoding': 'gzip',
      'x-forwarded-for': '10.0.0.1',
      'openai-organization': 'org',
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    })
    assert.deepEqual(forwarded, { 'anthropic-version': '2023-06-01', 'content-type': 'application/json' })
  })

  test('headers about the account are removed from responses', () => {
    const headers = {
      'set-cookie': ['a'],
      'anthropic-organization-id': 'o',
      'request-id': 'r',
      connection: 'close',
    }
    assert.deepEqual(forwardedReplyHeaders(headers), { 'request-id': 'r' })
  })

  test('each provider gets its key in its own header', () => {
    assert.deepEqual(credentialHeaders('anthropic', 'sk-ant-api03'), { 'x-api-key': 'sk-ant-api03' })
    assert.deepEqual(credentialHeaders('anthropic', 'sk-ant-oat01'), {
      authorization: 'Bearer sk-ant-oat01',
      'anthropic-beta': 'oauth-2025-04-20',
    })
    assert.deepEqual(credentialHeaders('google', 'k'), { 'x-goog-api-key': 'k' })
    assert.deepEqual(credentialHeaders('openai', 'k'), { authorization: 'Bearer k' })
  })

  test('betas of the client and of the credential are joined without duplicates', () => {
    const credential = credentialHeaders('anthropic', 'sk-ant-oat01')
    const betas = (own?: string | string[]) =>
      withBetas(own === undefined ? {} : { 'anthropic-beta': own }, credential)['anthropic-beta']
    assert.equal(betas(), 'oauth-2025-04-20')
    assert.equal(betas('a-1, oauth-2025-04-20'), 'a-1,oauth-2025-04-20')
    assert.equal(betas(['a-1', 'b-2']), 'a-1,b-2,oauth-2025-04-20')
    assert.deepEqual(withBetas({}, { 'x-api-key': 'k' }), { 'x-api-key': 'k' })
  })

  test('token counts and model lists do not call a model', () => {
    const calls = (method: string, url: string) => {
      const target = readTarget(method, url)
      return target && callsModel(target)
    }
    assert.equal(calls('POST', 'anthropic/v1/messages?beta=true'), true)
    assert.equal(calls('POST', 'google/v1beta/models/gemini-x:streamGenerateContent'), true)
    assert.equal(calls('POST', 'openai/v1/responses'), true)
    assert.equal(calls('POST', 'anthropic/v1/messages/count_tokens'), false)
    assert.equal(calls('POST', 'google/v1beta/models/gemini-x:countTokens'), false)
    assert.equal(calls('GET', 'anthropic/v1/models'), false)
  })

  test('an immediate retry is useful after a switch to another credential', () => {
    assert.deepEqual(retryHeaders(401, false), { 'x-should-retry': 'false' })
    assert.deepEqual(retryHeaders(429, false), {})
    assert.deepEqual(retryHeaders(429, true), { 'retry-after': '1', 'x-should-retry': 'true' })
  })
})

describe('counting', () => {
  const sse = (...events: object[]) =>
    events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join('')
  const measure = (
    provider: 'anthropic' | 'google' | 'openai',
    type: string,
    body: string,
    size = 10_000,
  ) => {
    const meter = createMeter(provider, { contentType: type })
    const bytes = Buffer.from(body)
    let finalAt = -1
    for (let at = 0; at < bytes.length; at += size) {
      if (meter.feed(bytes.subarray(at, at + size)) && finalAt < 0) finalAt = at
    }
    meter.end()
    return { metered: meter.metered(), model: meter.model(), isFinal: finalAt >= 0 }
  }
  const count = (...given: Parameters<typeof measure>) => {
    const { metered, ...rest } = measure(...given)
    return { tokens: metered?.tokens ?? null, ...rest }
  }
  const stream = 'text/event-stream; charset=utf-8'

  const anthropic = sse(
    {
      type: 'message_start',
      message: {
        model: 'claude-x',
        usage: {
          input_tokens: 10,
          output_tokens: 1,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 20,
          cache_creation: { ephemeral_1h_input_tokens: 5, ephemeral_5m_input_tokens: 15 },
        },
      },
    },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: 'the word "usage" ü' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 42 } },
    { type: 'message_stop' },
  )
  test('Anthropic streams, in chunks of any size', () => {
    for (const size of [1, 5, 64, 10_000]) {
      assert.deepEqual(count('anthropic', stream, anthropic, size), {
        tokens: { ...noTokens, input: 10, output: 42, cacheRead: 100, cacheWrite: 20, cacheWriteLong: 5 },
        model: 'claude-x',
        isFinal: true,
      })
    }
  })

  test('an aborted stream has the usage reported so far', () => {
    const { tokens, isFinal } = count(
      'anthropic',
      stream,
      anthropic.slice(0, anthropic.indexOf('message_delta') - 30),
    )
    assert.equal(tokens?.input, 10)
    assert.equal(isFinal, false)
  })

  test('Anthropic messages without streaming; counting tokens costs nothing', () => {
    const body = JSON.stringify({
      type: 'message',
      model: 'claude-x',
      usage: { input_tokens: 3, output_tokens: 4 },
    })
    assert.deepEqual(count('anthropic', 'application/json', body).tokens, {
      ...noTokens,
      input: 3,
      output: 4,
    })
    assert.equal(count('anthropic', 'application/json', '{"input_tokens":99}').tokens, null)
  })

  const chunk = (prompt: number, answer: number, finish?: string) => ({
    modelVersion: 'gemini-x',
    candidates: [{ content: {}, ...(finish ? { finishReason: finish } : {}) }],
    usageMetadata: {
      promptTokenCount: prompt,
      cachedContentTokenCount: 4,
      candidatesTokenCount: answer,
      thoughtsTokenCount: 2,
    },
  })
  const google = { tokens: { ...noTokens, input: 6, cacheRead: 4, output: 7 }, model: 'gemini-x' }
  test('Google streams report running totals; the last one counts', () => {
    const body = sse(chunk(10, 1), chunk(10, 5, 'STOP'))
    assert.deepEqual(count('google', stream, body), { ...google, isFinal: true })
  })
  test('Google without events: one array of documents, or one document', () => {
    const body = JSON.stringify([chunk(10, 1), chunk(10, 5, 'STOP')])
    assert.deepEqual(count('google', 'application/json', body), { ...google, isFinal: false })
    assert.deepEqual(count('google', 'application/json', JSON.stringify(chunk(10, 5))).tokens, google.tokens)
  })

  const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 7 }
  test('OpenAI responses and chat completions, with and without streaming', () => {
    const expected = { tokens: { ...noTokens, input: 6, cacheRead: 4, output: 7 }, model: 'gpt-x' }
    const events = sse(
      { type: 'response.created', response: { model: 'gpt-x', usage: null } },
      { type: 'response.output_text.delta', delta: 'usage' },
      { type: 'response.completed', response: { model: 'gpt-x', usage } },
    )
    assert.deepEqual(count('openai', stream, events), { ...expected, isFinal: true })
    assert.deepEqual(count('openai', 'application/json', JSON.stringify({ model: 'gpt-x', usage })), {
      ...expected,
      isFinal: false,
    })
    const completion = {
      prompt_tokens: 10,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens: 7,
    }
    const chat = `${sse({ model: 'gpt-x', usage: null }, { model: 'gpt-x', usage: completion })}data: [DONE]\n\n`
    assert.deepEqual(count('openai', stream, chat), { ...expected, isFinal: true })
  })

  test('Anthropic usage: fast mode, region, web searches and the model calls of one request', () => {
    const call = { type: 'message', input_tokens: 60, output_tokens: 5 }
    const body = JSON.stringify({
      model: 'claude-x',
      usage: {
        input_tokens: 120,
        output_tokens: 10,
        server_tool_use: { web_search_requests: 3 },
        speed: 'fast',
        inference_geo: 'us',
        iterations: [call, { type: 'compaction', input_tokens: 9 }, call],
      },
    })
    const part = { ...noTokens, input: 60, output: 5 }
    assert.deepEqual(measure('anthropic', 'application/json', body).metered, {
      tokens: { ...noTokens, input: 120, output: 10, webSearches: 3 },
      tier: 'fast',
      isUsInference: true,
      parts: [part, part],
    })
  })

  test('OpenAI usage: tier, cache writes and web searches', () => {
    const body = JSON.stringify({
      model: 'gpt-x',
      service_tier: 'priority',
      output: [{ type: 'web_search_call' }, { type: 'message' }],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 40, cache_write_tokens: 30 },
        output_tokens: 7,
      },
    })
    assert.deepEqual(measure('openai', 'application/json', body).metered, {
      tokens: { ...noTokens, input: 30, cacheRead: 40, cacheWrite: 30, output: 7, webSearches: 1 },
      tier: 'fast',
      isUsInference: false,
      parts: null,
    })
    const named = (tier: string) =>
      measure('openai', 'application/json', body.replace('priority', tier)).metered?.tier
    assert.deepEqual(['default', 'flex', 'ultrafast', 'constructor'].map(named), [
      'standard',
      'flex',
      'unknown',
      'unknown',
    ])
  })

  test('Google usage: the tier in a header, searches in the response', () => {
    const meter = createMeter('google', { contentType: 'application/json', tier: 'fast' })
    const candidate = { groundingMetadata: { webSearchQueries: ['a', 'b'] }, finishReason: 'STOP' }
    const document = { candidates: [candidate], usageMetadata: { promptTokenCount: 5 } }
    meter.feed(Buffer.from(JSON.stringify(document)))
    meter.end()
    const metered = meter.metered()
    assert.deepEqual([metered?.tier, metered?.tokens.webSearches, metered?.tokens.input], ['fast', 2, 5])
  })

  test('responses of unexpected shape are ignored', () => {
    for (const body of [
      '',
      'null',
      '"usage"',
      '{"usage":5}',
      '{"usage":{"input_tokens":"x"}}',
      '{"usage":',
      'data: {"usage"',
    ]) {
      for (const provider of ['anthropic', 'google', 'openai'] as const) {
        const { tokens } = count(provider, 'application/json', body)
        assert.ok(tokens === null || Object.values(tokens).every((value) => value === 0), body)
        count(provider, stream, `data: ${body}\n\n`)
      }
    }
  })
})

test('errors have the format of the provider', () => {
  const error = { status: 401, message: 'no' }
  assert.deepEqual(JSON.parse(errorBody('anthropic', error)), {
    type: 'error',
    error: { type: 'authentication_error', message: 'no' },
  })
  assert.deepEqual(JSON.parse(errorBody('google', error)), {
    error: { code: 401, message: 'no', status: 'UNAUTHENTICATED' },
  })
  assert.deepEqual(JSON.parse(errorBody('openai', error)).error.message, 'no')
})
