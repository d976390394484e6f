import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { credentialHeaders } from '../../kit/provider-credential.ts'
import { errorBody } from './failures.ts'
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
    [
      'POST',
      'google/v1beta/models/x:generateContent?fields=candidates&$fields=a&alt=proto&access_token=b&constructor=c',
      '/v1beta/models/x:generateContent',
      'x',
    ],
    ['GET', 'google/v1beta/models?pageSize=5', '/v1beta/models?pageSize=5', null],
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

  const scan = (json: string, size: number) => {
    const scanner = createModelScanner()
    const bytes = Buffer.from(json)
    const feeds = []
    for (let at = 0; at < bytes.length; at += size) feeds.push(scanner.feed(bytes.subarray(at, at + size)))
    return feeds
  }
  const found = (json: string, size: number) => scan(json, size).flatMap(({ models }) => models)
  const background: [string, boolean][] = [
    ['{"background":true}', true],
    ['{"backgro\\u0075nd" : true,"model":"gpt-5"}', true],
    ['{"background":false,"background":\n true}', true],
    ['{"background":false,"store":true}', false],
    ['{"background":null,"a":true}', false],
    ['{"input":{"background":true},"a":["background",true]}', false],
    ['{"background":"text","b":true}', false],
  ]
  for (const [body, expected] of background) {
    test(`${body} ${expected ? 'asks' : 'does not ask'} for the background`, () => {
      for (const size of [1, 3, 10_000])
        assert.equal(
          scan(body, size).some(({ isBackground }) => isBackground),
          expected,
          `${size}`,
        )
    })
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
