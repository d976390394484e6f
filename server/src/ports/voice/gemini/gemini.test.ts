import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type LiveServer, startLiveServer, tone } from '@roost/test-support/live/index'
import { secret } from '../../../kit/secret.ts'
import { type LiveVoice, VoiceDown, type VoiceEvent } from '../port.ts'
import { createGeminiVoice } from './gemini.ts'

const key = 'AIza-voice-canary'
const ask = { name: 'ask_agent', description: 'Asks.', parameters: { type: 'object', properties: {} } }

const open = (live: LiveServer, overrides: { key?: string; voiceName?: string; signal?: AbortSignal } = {}) =>
  createGeminiVoice({ baseUrl: live.url, model: 'gemini-3.8-live' }).open({
    key: secret(overrides.key ?? key),
    model: null,
    systemInstruction: 'Be brief.',
    voiceName: overrides.voiceName ?? 'Kore',
    tools: [ask],
    signal: overrides.signal ?? new AbortController().signal,
  })

/** An open session with both ends; closed at the end of the test. */
async function talk() {
  const live = await startLiveServer({ key })
  const voice = await open(live)
  const model = await live.session()
  const events = voice.events[Symbol.asyncIterator]()
  return {
    live,
    voice,
    model,
    async next(type?: VoiceEvent['type']): Promise<VoiceEvent> {
      for (;;) {
        const { value } = await events.next()
        const event = value ?? assert.fail(`ended before ${type}`)
        if (type === undefined || event.type === type) return event
      }
    },
    async [Symbol.asyncDispose]() {
      voice.close()
      await live[Symbol.asyncDispose]()
    },
  }
}

const line = (role: 'user' | 'assistant', text: string, final: boolean) => ({
  type: 'transcript',
  role,
  text,
  final,
})

describe('opening', () => {
  test('the setup contains voice, instructions and tools', async () => {
    await using talking = await talk()
    const { setup } = talking.model
    assert.equal(setup.model, 'models/gemini-3.8-live')
    assert.deepEqual(setup.systemInstruction, { parts: [{ text: 'Be brief.' }] })
    assert.deepEqual(setup.tools, [
      { functionDeclarations: [{ ...ask, parameters: { type: 'OBJECT', properties: {} } }] },
    ])
    assert.equal(setup.generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName, 'Kore')
  })

  for (const [what, over, words] of [
    ['a key that is not good', { key: 'wrong' }, /API key not valid/],
    ['a voice that is not there', { voiceName: 'Nobody' }, /Requested voice Nobody/],
  ] as const) {
    test(`${what} is refused with the provider's message`, async () => {
      await using live = await startLiveServer({ key })
      await assert.rejects(
        open(live, over),
        (error) => error instanceof VoiceDown && words.test(error.message),
      )
    })
  }

  test('a provider that refuses the socket is down', async () => {
    await using live = await startLiveServer({ key })
    live.refuseWith(503)
    await assert.rejects(open(live), (error) => error instanceof VoiceDown && /503/.test(error.message))
  })

  test('an aborted open does not connect', async () => {
    await using live = await startLiveServer({ key })
    live.holdSetups(true)
    const signal = AbortSignal.abort()
    await assert.rejects(open(live, { signal }), VoiceDown)
    assert.equal(live.sessions.length, 0)
  })
})

describe('talking', () => {
  test('audio passes unchanged in both directions', async () => {
    await using talking = await talk()
    const { voice, model, next } = talking
    assert.equal(voice.sendAudio(tone(40, 16_000)), true)
    assert.deepEqual(await model.heardFor(40).then(() => model.audio()), tone(40, 16_000))
    model.speak('Hello.')
    assert.deepEqual(await next(), { type: 'audio', pcm24k: tone(200) })
    assert.deepEqual(await next(), line('assistant', 'Hello.', false))
    assert.deepEqual(await next(), line('assistant', 'Hello.', true))
    assert.deepEqual(await next(), { type: 'turnComplete' })
  })

  test('a line grows in pieces and ends once; the person’s ends when the answer starts', async () => {
    await using talking = await talk()
    const { model, next } = talking
    model.hear('What is', ' the time?')
    model.speak('Noon.')
    const lines: VoiceEvent[] = []
    for (let count = 0; count < 5; count += 1) lines.push(await next('transcript'))
    assert.deepEqual(lines, [
      line('user', 'What is', false),
      line('user', 'What is the time?', false),
      line('user', 'What is the time?', true),
      line('assistant', 'Noon.', false),
      line('assistant', 'Noon.', true),
    ])
  })

  test('lines contain no U+0000 and no lone surrogates; split pairs are joined', async () => {
    await using talking = await talk()
    const { model, next } = talking
    model.hear('a\0b \ud83d', '\ude00', ' \ud83d')
    model.speak('\0')
    let event = await next('transcript')
    while (!(event.type === 'transcript' && event.final)) event = await next('transcript')
    assert.deepEqual(event, line('user', 'ab \u{1f600} \ufffd', true))
    assert.deepEqual(await next(), { type: 'turnComplete' })
  })

  test('a tool call is answered by its id', async () => {
    await using talking = await talk()
    const { voice, model, next } = talking
    model.call('c1', 'ask_agent', { message: 'the time' })
    assert.deepEqual(await next(), {
      type: 'toolCall',
      id: 'c1',
      name: 'ask_agent',
      args: { message: 'the time' },
    })
    voice.sendToolResult({ id: 'c1', name: 'ask_agent', result: { answer: 'noon' } })
    voice.sendToolResult({ id: 'c1', name: 'ask_agent', result: { answer: 'again' } })
    voice.sendText('Go on.')
    assert.deepEqual(await model.next('toolResponse'), {
      functionResponses: [{ id: 'c1', name: 'ask_agent', response: { answer: 'noon' } }],
    })
    assert.equal(await model.next('text'), 'Go on.')
  })

  test('a cancelled call is not answered', async () => {
    await using talking = await talk()
    const { voice, model, next } = talking
    model.call('c1', 'ask_agent', {})
    model.send({ toolCallCancellation: { ids: ['c1'] } })
    assert.deepEqual(await next('toolCancelled'), { type: 'toolCancelled', ids: ['c1'] })
    voice.sendToolResult({ id: 'c1', name: 'ask_agent', result: {} })
    voice.sendText('Go on.')
    await model.next('text')
    assert.ok(!model.received.some((message) => message.toolResponse))
  })

  test('an interruption ends the line and drops unread audio', async () => {
    await using talking = await talk()
    const { model, next } = talking
    model.speak('It is', { ends: false })
    model.interrupt()
    const received: VoiceEvent[] = []
    // All messages have arrived before any is read.
    await ended(talking)
    for (;;) {
      const event = await next()
      received.push(event)
      if (event.type === 'turnComplete') break
    }
    assert.deepEqual(
      received.map(({ type }) => type),
      ['transcript', 'transcript', 'interrupted', 'turnComplete'],
    )
    assert.deepEqual(received[1], line('assistant', 'It is', true))
  })
})

describe('ending', () => {
  test('open lines become final before the end is reported', async () => {
    await using talking = await talk()
    const { voice, model, next } = talking
    model.hear('And then')
    await next('transcript')
    voice.close()
    voice.close()
    assert.deepEqual(await next(), line('user', 'And then', true))
    assert.deepEqual(await next(), { type: 'closed', reason: 'asked', detail: null })
    assert.equal((await model.closed).code, 1000)
  })

  test("a refusal during the session has the provider's reason", async () => {
    await using talking = await talk()
    talking.model.close(1008, 'Quota exceeded.')
    assert.deepEqual(await talking.next(), { type: 'closed', reason: 'refused', detail: 'Quota exceeded.' })
  })

  test('a broken connection ends a session that cannot be resumed', async () => {
    await using talking = await talk()
    talking.model.cut()
    const closed = await talking.next()
    assert.ok(closed.type === 'closed' && closed.reason === 'lost')
  })
})

describe('carrying on', () => {
  for (const [what, leave] of [
    ['a connection that breaks', (talking: Talking) => talking.model.cut()],
    ['a provider that goes away', (talking: Talking) => talking.model.goAway()],
  ] as const) {
    test(`${what} is replaced by another connection without an event`, async () => {
      await using talking = await talk()
      const { live, voice, model, next } = talking
      model.give('h1')
      leave(talking)
      const second = await live.session()
      assert.deepEqual(second.setup.sessionResumption, { handle: 'h1' })
      second.speak('Still here.')
      assert.deepEqual(await next(), { type: 'audio', pcm24k: tone(200) })
      voice.sendAudio(tone(20, 16_000))
      await second.heardFor(20)
    })
  }

  test('the current sentence ends before the connection is replaced', async () => {
    await using talking = await talk()
    const { live, model, next } = talking
    model.give('h1')
    model.speak('One', { ends: false })
    model.goAway()
    model.speak(' two.')
    await next('turnComplete')
    await live.session()
    assert.equal((await model.closed).code, 1000)
  })

  test('the answer to a call of an earlier connection is sent as text', async () => {
    await using talking = await talk()
    const { live, voice, model, next } = talking
    model.give('h1')
    model.call('c1', 'ask_agent', {})
    await next('toolCall')
    model.cut()
    const second = await live.session()
    // Its audio shows that the new connection is in use.
    second.speak('Moment.')
    await next('turnComplete')
    voice.sendToolResult({ id: 'c1', name: 'ask_agent', result: { answer: 'noon' } })
    assert.match(await second.next('text'), /ask_agent: \{"answer":"noon"\}/)
  })

  test('a provider that accepts connections without any conversation is given up', async () => {
    await using talking = await talk()
    const { live, model, next } = talking
    model.give('h1')
    model.cut()
    for (let count = 0; count < 3; count += 1) (await live.session()).cut()
    const closed = await next('closed')
    assert.ok(closed.type === 'closed' && closed.reason === 'lost')
    assert.equal(live.sessions.length, 4)
  })
})

test('the provider is paused while nobody reads', async () => {
  await using talking = await talk()
  const { model, next } = talking
  for (let count = 0; count < 400; count += 1) model.speak(`line ${count}`, { milliseconds: 1 })
  model.give('h1')
  for (let count = 0; count < 400; count += 1) {
    let event = await next('transcript')
    while (!(event.type === 'transcript' && event.final)) event = await next('transcript')
    assert.equal(event.text, `line ${count}`)
  }
})

type Talking = Awaited<ReturnType<typeof talk>>

/** Waits until everything the model has sent was received, because messages are answered in order. */
async function ended({ voice, model }: { voice: LiveVoice; model: Talking['model'] }): Promise<void> {
  model.call('mark', 'mark', {})
  const answered = model.next('toolResponse')
  const again = setInterval(() => voice.sendToolResult({ id: 'mark', name: 'mark', result: {} }), 5)
  await answered.finally(() => clearInterval(again))
}
