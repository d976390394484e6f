/** Telephone calls with a provider that streams audio, a voice, a real agent, and a killed platform. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type LiveServer, startLiveServer, tone } from '@roost/test-support/live/index'
import { startTelephoneProvider, type TelephoneProvider } from '@roost/test-support/telephony/index'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { agentKeyOf, createAgent, execution, isOver, untilExecution } from './steps.ts'

const name = 'qa-caller'
const key = 'AIza-calls-canary-7713'
let live: LiveServer
let provider: TelephoneProvider
let platform: Platform
before(async () => {
  live = await startLiveServer({ key })
  provider = await startTelephoneProvider()
  platform = await startPlatform({
    env: {
      ROOST_VOIP_ENABLED: 'true',
      ROOST_TWILIO_BASE_URL: provider.url,
      GOOGLE_GEMINI_BASE_URL: live.url,
    },
  })
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await provider?.close()
  await live?.[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: object, token?: string) =>
  platform.request(method, `/api/agents/${name}/${path}`, body, token === undefined ? {} : { token })

async function bindAccount(): Promise<void> {
  const { sid, token, number } = provider.account
  const binding = { account_sid: sid, auth_token: token, from_number: number }
  const bound = await api('PUT', 'voip', binding)
  assert.deepEqual([bound.status, bound.json.enabled], [200, true], bound.text)
  assert.ok(!bound.text.includes(token))
}

/** An answered call that the agent has started, from both ends. */
async function startAnsweredCall() {
  const agentKey = await agentKeyOf(name)
  const { status, json, text } = await api('POST', 'voip/call', { to_number: '+15550123' }, agentKey)
  assert.equal(status, 200, text)
  const call = await provider.nextCall()
  const [phone, voice] = await Promise.all([call.answer(), live.session()])
  return { id: json.execution_id as string, call, phone, voice }
}

/** The task started by a call, when it has ended. */
const taskOf = (id: string): Promise<Loose> =>
  eventually(
    async () =>
      (await api('GET', 'executions?triggered_by=voip')).json.find(
        (run: Loose) => run.parent_execution_id === id && /telephone call/.test(run.message),
      ),
    (run) => run !== undefined && isOver(run),
  )

test('an agent calls, its voice asks it, the transcript becomes its task, and the token stays secret', async () => {
  assert.equal((await api('GET', 'voip')).json.error, 'feature_disabled')
  await platform.request('PUT', '/api/settings/api-keys/voice', { api_key: key })
  assert.equal((await platform.request('GET', '/api/settings/feature-flags')).json.voip, true)
  await bindAccount()
  const { id, phone, voice } = await startAnsweredCall()
  assert.equal((await execution(platform, name, id)).status, 'running')
  phone.say(Buffer.alloc(8_000, 0x55))
  await voice.heardFor(1_000)
  voice.hear('When does it leave?')
  voice.call('t1', 'ask_agent', { message: '[[reply:on Friday]]' })
  const { functionResponses } = await voice.next('toolResponse')
  assert.deepEqual(functionResponses[0].response, { answer: 'on Friday' })
  voice.speak('On Friday.')
  await phone.untilHeard(tone(150, 8_000).length / 2)
  phone.stop()
  const row = await untilExecution(platform, name, id, isOver)
  assert.deepEqual([row.status, row.triggered_by], ['success', 'voip'], row.error)
  assert.match(row.response, /^They: When does it leave\?\nAgent: On Friday\.$/)
  const task = await taskOf(id)
  assert.equal(task.status, 'success')
  assert.match(task.message, /They: When does it leave\?/)
  assert.equal((await api('GET', 'voip')).json.calls_today, 1)
  for (const secret of [provider.account.token, key]) assert.ok(!platform.output().includes(secret))
})

test('a platform killed during a call ends it after the restart, with the transcript', async () => {
  const { id, call, phone, voice } = await startAnsweredCall()
  voice.speak('Good day.')
  await phone.untilHeard(600)
  // The lines before the tool call are stored by the time of its response.
  voice.call('t1', 'ask_agent', { message: '[[reply:yes]]' })
  await voice.next('toolResponse')
  await platform.killApi()
  await phone.closed
  await platform.startApi()
  platform.token = await signIn(platform)
  assert.equal((await call.tell('completed')).status, 204)
  const row = await untilExecution(platform, name, id, isOver)
  assert.deepEqual([row.status, row.response], ['success', 'Agent: Good day.'], row.error)
  assert.equal((await taskOf(id)).status, 'success')
})
