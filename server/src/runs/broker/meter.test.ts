import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMeter } from './meter.ts'
import { noTokens } from './usage-rules.ts'

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
      // The totals of the provider leave the compaction out, and it is billed.
      tokens: { ...noTokens, input: 129, output: 10, webSearches: 3 },
      tier: 'fast',
      isUsInference: true,
      parts: [part, { ...noTokens, input: 9 }, part],
      context: part,
    })
  })

  test('a compaction is added to the input that the start of the stream reported', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 100, output_tokens: 3 },
      { type: 'message', input_tokens: 20, output_tokens: 5 },
    ]
    const body = (type: string) =>
      sse(
        { type: 'message_start', message: { usage: { input_tokens: 20, output_tokens: 1 } } },
        {
          type: 'message_delta',
          usage: { output_tokens: 5, iterations: [{ ...iterations[0], type }, iterations[1]] },
        },
      )
    const { metered } = measure('anthropic', stream, body('compaction'))
    assert.deepEqual(metered?.tokens, { ...noTokens, input: 120, output: 8 })
    assert.equal(metered?.isGuess, undefined)
    assert.equal(measure('anthropic', stream, body('advisor_message')).metered?.isGuess, true)
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
      context: null,
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

  test('output that passes is estimated from its text, of any provider', () => {
    const text = 'x'.repeat(400)
    const estimate = (provider: 'anthropic' | 'google' | 'openai', type: string, body: string) => {
      const meter = createMeter(provider, { contentType: type })
      meter.feed(Buffer.from(body))
      return meter.estimatedOutput()
    }
    const part = { candidates: [{ content: { parts: [{ text }] } }] }
    assert.equal(estimate('google', stream, sse(part, part)), 200)
    assert.equal(estimate('anthropic', stream, sse({ type: 'x_delta', delta: { type: 'a', text } })), 100)
    assert.equal(estimate('openai', stream, sse({ type: 'x.delta', delta: text, item_id: text })), 100)
    assert.equal(estimate('openai', stream, sse({ choices: [{ delta: { content: text } }] })), 100)
    const deep = `{"candidates":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    assert.equal(estimate('google', stream, `data: ${deep}\n\n`), 1)
    const cut = JSON.stringify([part]).slice(0, -1)
    assert.equal(estimate('google', 'application/json', cut), cut.length / 4)
    assert.equal(
      estimate('anthropic', stream, sse({ delta: { type: 'signature_delta', signature: text } })),
      100,
    )
    assert.equal(estimate('google', stream, sse({ candidates: ['x'.repeat(70_000)] })), 1, 'a file')
  })

  test('a line of many chunks costs time in proportion to its length', () => {
    const meter = createMeter('openai', { contentType: stream })
    const chunk = Buffer.alloc(4096, 'x')
    // Joined again with each chunk, this line of 24 MiB would copy 72 GiB.
    meter.feed(Buffer.from('data: {"type":"response.completed","response":{"model":"gpt-x","instructions":"'))
    for (let index = 0; index < 6144; index += 1) meter.feed(chunk)
    meter.feed(Buffer.from('","usage":{"input_tokens":3,"output_tokens":4}}}\n\n'))
    assert.deepEqual([meter.metered()?.tokens.output, meter.isFinal()], [4, true])
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
