/** Calls: a person's speech, a model that listens and speaks, and a real agent behind it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { type LiveServer, loudness, startLiveServer, tone } from '@roost/test-support/live/index'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { createAgent, execution } from './steps.ts'

const name = 'qa-voice'
const key = 'AIza-voice-canary-5521'
let live: LiveServer
let platform: Platform
before(async () => {
  live = await startLiveServer({ key })
  platform = await startPlatform({ env: { GOOGLE_GEMINI_BASE_URL: live.url } })
  await createAgent(platform, name)
})
after(async () => {
  await live?.[Symbol.asyncDispose]()
  await platform?.[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: object) =>
  platform.request(method, `/api/agents/${name}${path}`, body)

/** Starts a call as a browser does. */
async function dial() {
  const { json } = await api('POST', '/voice/start', {})
  const socket = new WebSocket(platform.url.replace('http', 'ws') + json.websocket_url)
  const messages: Loose[] = []
  socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))))
  const closed = once(socket, 'close')
  await once(socket, 'open')
  const model = await live.session()
  return {
    id: json.voice_session_id as string,
    session: json.chat_session_id as string,
    socket,
    model,
    closed,
    heard: (accept: (message: Loose) => boolean): Promise<Loose> =>
      eventually(
        async () => messages.find(accept),
        (found) => found !== undefined,
      ),
  }
}

const storedMessages = async (session: string) =>
  (await api('GET', `/chat/sessions/${session}`)).json.messages.map((message: Loose) => [
    message.role,
    message.content,
    message.source,
  ])

test('speech reaches the model, the model asks the agent, its reply is spoken and stored', async () => {
  assert.equal((await api('POST', '/voice/start', {})).json.error, 'not_configured')
  await platform.request('PUT', '/api/settings/api-keys/voice', { api_key: key })
  assert.equal((await api('GET', '/voice/status')).json.available, true)
  const { id, session, socket, model, heard: nextMessage, closed } = await dial()

  const data = tone(300, 16_000).toString('base64')
  socket.send(JSON.stringify({ type: 'audio', data }))
  await model.heardFor(300)
  assert.ok(loudness(model.audio()) > 1000)
  model.hear('What is the plan?')
  model.call('c1', 'ask_agent', { message: '[[reply:ship on Friday]]' })
  const { functionResponses } = await model.next('toolResponse')
  assert.deepEqual(functionResponses[0].response, { answer: 'ship on Friday' })
  model.speak('They ship on Friday.')
  const audio = await nextMessage(({ type }) => type === 'audio')
  assert.ok(loudness(Buffer.from(audio.data, 'base64')) > 1000)
  await nextMessage(({ type, role, final }) => type === 'transcript' && role === 'assistant' && final)
  const task = await nextMessage(({ type, state }) => type === 'task' && state === 'success')
  const run = await execution(platform, name, task.task_id)
  assert.deepEqual([run.triggered_by, run.status], ['voice', 'success'])

  const stopped = await api('POST', '/voice/stop', { voice_session_id: id })
  assert.equal(stopped.json.messages_saved, 2, stopped.text)
  await closed
  assert.deepEqual(await storedMessages(session), [
    ['user', 'What is the plan?', 'voice'],
    ['assistant', 'They ship on Friday.', 'voice'],
  ])
  assert.ok(!platform.output().includes(key))
})

test('after a kill during a call, every finished line is stored once', async () => {
  const { id, session, model, heard: nextMessage, closed } = await dial()
  model.hear('Remember the milk.')
  model.speak('I will.')
  await nextMessage(({ type, role, final }) => type === 'transcript' && role === 'assistant' && final)
  await eventually(
    () => storedMessages(session),
    (stored) => stored.length === 4,
  )
  await platform.killApi()
  await closed
  await platform.startApi()
  platform.token = await signIn(platform)
  const stopped = await api('POST', '/voice/stop', { voice_session_id: id })
  assert.deepEqual(
    stopped.json.transcript.map(({ text }: Loose) => text),
    ['Remember the milk.', 'I will.'],
  )
  assert.equal((await storedMessages(session)).length, 4)
})
