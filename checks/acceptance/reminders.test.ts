/**
 * Reminders: an agent sets one during a turn, it survives a restart of the platform, and its result appears in the
 * conversation.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import {
  agentKeyOf,
  assertShape,
  beginTurn,
  createAgent,
  execution,
  isSpawned,
  untilExecution,
} from './steps.ts'

const name = 'qa-reminded'
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: object, token?: string) =>
  platform.request(method, `/api/agents/${name}/${path}`, body, token === undefined ? {} : { token })
const list = async (status = 'all'): Promise<Loose> => (await api('GET', `reminders?status=${status}`)).json

test('invalid times are refused; a repeated request creates no second reminder; a cancelled one stays cancelled', async () => {
  for (const times of [{}, { delay_seconds: 59 }, { fire_at: '2020-01-01T00:00:00Z' }]) {
    assert.equal((await api('POST', 'reminders', { message: 'x', ...times })).status, 422)
  }
  const body = { message: 'later', delay_seconds: 3600 }
  const [first, repeated] = [await api('POST', 'reminders', body), await api('POST', 'reminders', body)]
  assert.deepEqual([first.status, repeated.status, repeated.json.id], [201, 201, first.json.id])
  assert.equal(repeated.headers.get('x-idempotent-replay'), 'true')
  assertShape(
    first.json,
    {
      ...{ id: 'string', agent_name: 'string', message: 'string', fire_at: 'string', status: 'string' },
      ...{ autonomy_hold: 'boolean', fire_attempts: 'number', created_at: 'string', error: 'string?' },
      ...{ execution_id: 'string?', fired_at: 'string?', cancelled_at: 'string?' },
    },
    'reminder',
  )
  for (let time = 0; time < 2; time += 1) {
    const cancelled = await api('POST', `reminders/${first.json.id}/cancel`)
    assert.deepEqual([cancelled.status, cancelled.json.status], [200, 'cancelled'])
  }
  assert.deepEqual(await list('pending'), [])
})

test('a reminder set during a turn fires once after a kill, and its result appears in the conversation', async () => {
  const key = await agentKeyOf(name)
  const turn = await beginTurn(platform, name, '[[hold:will]] [[reply:I will]]')
  await untilExecution(platform, name, turn.id, isSpawned)
  const { json } = await api('POST', 'reminders', { message: '[[reply:it is time]]', delay_seconds: 60 }, key)
  assert.ok(json.origin_session_id, JSON.stringify(json))
  platform.model.release('will')
  await turn.ended
  await platform.killApi()
  await platform.startApi()
  platform.token = await signIn(platform)
  const fired = await eventually(
    async () => (await list()).find((reminder: Loose) => reminder.id === json.id),
    (reminder) => reminder.status === 'fired',
    120_000,
  )
  const row = await execution(platform, name, fired.execution_id)
  assert.deepEqual([row.triggered_by, row.reminder_id], ['reminder', json.id])
  const messages = await eventually(
    async () => (await api('GET', `chat/sessions/${json.origin_session_id}`)).json.messages,
    (messages: Loose) => messages.length > 2,
  )
  assert.deepEqual(
    messages.map((message: Loose) => [message.role, message.content, message.source]).slice(1),
    [
      ['assistant', 'I will', 'text'],
      ['assistant', 'it is time', 'reminder'],
    ],
  )
  const runs = (await api('GET', 'executions?triggered_by=reminder')).json
  assert.equal(runs.length, 1)
})
