/** The Workspace for a person without an account: sign-in by mail, Main, turns, documents, asks, deliveries. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { eventually, type Loose, type Platform, type RequestOptions, startPlatform } from './platform.ts'
import { agentKeyOf, createAgent } from './steps.ts'

const agent = 'qa-portal'
const sam = 'sam@example.org'
let platform: Platform
let mail: MailServer
let token: string
before(async () => {
  mail = await startMailServer({ account: { user: 'roost@example.com', password: 'p@ss word' } })
  platform = await startPlatform({ env: { ROOST_MAIL_URL: mail.url } })
  await createAgent(platform, agent)
  const shared = await platform.request('POST', `/api/agents/${agent}/share`, { email: sam })
  assert.equal(shared.status, 200, shared.text)
  token = await signIn(sam)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await mail?.close()
})

const portal = (method: string, path: string, body?: unknown, options: RequestOptions = {}) =>
  platform.request(method, `/api/enterprise/client-portal${path}`, body, { token, ...options })
const history = async (): Promise<Loose> => (await portal('GET', `/agents/${agent}/history`)).json

async function signIn(email: string): Promise<string> {
  assert.equal((await portal('POST', '/auth/request', { email }, { token: null })).status, 200)
  const code = /\d{6}/.exec((await mail.next(email)).text)?.[0]
  const reply = await portal('POST', '/auth/verify', { email, code }, { token: null })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.token
}

test('the list shows shared agents, and the token opens nothing else', async () => {
  // The agent is listed before its program has connected.
  const { json } = await eventually(
    () => portal('GET', '/my-agents'),
    (reply) => reply.json.agents[0]?.state === 'ready',
  )
  assert.deepEqual(
    json.agents.map(({ name, owned, state }: Loose) => [name, owned, state]),
    [[agent, false, 'ready']],
  )
  assert.equal((await platform.request('GET', '/api/agents', undefined, { token })).status, 401)
  assert.equal((await portal('GET', '/agents/roost-system/history')).status, 404)
})

test('a turn is answered in Main, remembers the previous one, and only one runs at a time', async () => {
  const first = await portal('POST', `/agents/${agent}/chat`, {
    message: 'The word is teapot. [[reply:noted]]',
  })
  assert.equal(first.status, 200, first.text)
  assert.equal(first.json.response, 'noted')
  const slow = portal('POST', `/agents/${agent}/chat`, { message: '[[hold:slow]] [[recall:teapot]]' })
  const { in_flight_execution_id } = await eventually(
    history,
    (current) => current.in_flight_execution_id !== null,
  )
  const busy = await portal('POST', `/agents/${agent}/chat`, { message: 'hi' })
  assert.deepEqual(
    [busy.status, busy.json.error, busy.json.execution_id],
    [409, 'turn_in_progress', in_flight_execution_id],
  )
  platform.model.release('slow')
  assert.equal((await slow).json.response, 'recall=yes')
  assert.deepEqual(
    (await history()).messages.map(({ role }: Loose) => role),
    ['user', 'assistant', 'user', 'assistant'],
  )
})

test('a turn streams, and its person stops it', async () => {
  const reply = portal('POST', `/agents/${agent}/chat/stream`, { message: '[[sleep:60]] [[reply:late]]' })
  const { in_flight_execution_id: id } = await eventually(
    history,
    (current) => current.in_flight_execution_id !== null,
  )
  const stopped = await portal('POST', `/agents/${agent}/executions/${id}/terminate`)
  assert.equal(stopped.status, 200, stopped.text)
  assert.match((await reply).text, /"type":"done","status":"cancelled"/)
  assert.equal((await history()).last_turn_outcome.category, 'user_cancelled')
  // Others who see the run do not see the conversation.
  const { json: list } = await platform.request(
    'GET',
    `/api/agents/${agent}/executions?triggered_by=workspace`,
  )
  assert.equal(list[0].source_user_email, sam)
})

test('a document arrives in the workspace of the agent and downloads unchanged', async () => {
  const form = new FormData()
  form.set('file', new File(['the plan'], 'plan.txt'))
  const upload = await fetch(`${platform.url}/api/enterprise/client-portal/agents/${agent}/documents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
  const document = (await upload.json()) as Loose
  assert.equal(upload.status, 201, JSON.stringify(document))
  assert.equal(document.path, '/home/developer/uploads/plan.txt')
  assert.equal((await portal('GET', `/agents/${agent}/documents/${document.id}`)).text, 'the plan')
  const files = await platform.request('GET', `/api/agents/${agent}/files?path=/home/developer/uploads`)
  assert.ok(files.text.includes('plan.txt'))
  assert.equal((await portal('DELETE', `/agents/${agent}/documents/${document.id}`)).status, 204)
})

test("a person answers the agent's request here", async () => {
  const key = await agentKeyOf(agent)
  const body = { request_id: 'w1', title: 'Your size?', options: ['S', 'M'], to_email: sam }
  const created = await platform.request('POST', `/api/agents/${agent}/operator-queue`, body, { token: key })
  assert.equal(created.status, 201, created.text)
  const { json } = await portal('GET', '/asks')
  assert.deepEqual(
    json.asks.map(({ title }: Loose) => title),
    ['Your size?'],
  )
  const answered = await portal('POST', `/asks/${created.json.id}/answer`, { response: 'M' })
  assert.deepEqual([answered.json.status, answered.json.responded_by_email], ['responded', sam])
})

test('the output of a schedule is one message in Main, which can be rated', async () => {
  const path = `/api/agents/${agent}/schedules`
  const made = await platform.request('POST', path, {
    ...{ name: 'Report', cron_expression: '0 5 1 1 *', message: '[[reply:all is well]]' },
    deliver_to_workspace_email: sam,
  })
  assert.equal(made.status, 201, made.text)
  const fired = await platform.request('POST', `${path}/${made.json.id}/trigger`)
  assert.equal(fired.status, 200, fired.text)
  const { messages } = await eventually(history, (current) => current.messages.at(-1)?.source === 'schedule')
  const last = messages.at(-1)
  assert.equal(last.content, 'all is well')
  const rated = await portal('POST', `/agents/${agent}/ratings`, {
    ...{ target_kind: 'message', target_id: last.id, rating: 'up' },
  })
  assert.equal(rated.status, 200, rated.text)
  const run = await platform.request('GET', `/api/agents/${agent}/executions/${fired.json.execution_id}`)
  assert.deepEqual(
    [run.json.delivery.email, run.json.delivery.status, run.json.delivery.message_id],
    [sam, 'delivered', last.id],
  )
})

test('the end of a share removes list entry, chats and deliveries at once', async () => {
  const stream = portal('POST', `/agents/${agent}/chat/stream`, { message: '[[sleep:600]] [[reply:late]]' })
  await eventually(history, (current) => current.in_flight_execution_id !== null)
  await platform.request('DELETE', `/api/agents/${agent}/share/${sam}`)
  // The run ends with the share. The stream may still show that it was cancelled, but no answer.
  const { text } = await stream
  assert.doesNotMatch(text, /"status":"success"|late"/)
  assert.deepEqual((await portal('GET', '/my-agents')).json.agents, [])
  assert.equal((await portal('GET', `/agents/${agent}/history`)).json.error, 'agent_not_found')
})
