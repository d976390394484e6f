/** Public links on the real platform: people without an account chat with a real agent. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

const agent = 'qa-public'
let platform: Platform
let mails: string
before(async () => {
  mails = await mkdtemp(join(tmpdir(), 'roost-public-mails-'))
  platform = await startPlatform({ env: { ROOST_MAIL_URL: `file:${mails}` } })
  await createAgent(platform, agent)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await rm(mails, { recursive: true, force: true })
})

async function newLink(body: object = {}): Promise<Loose> {
  const reply = await platform.request('POST', `/api/agents/${agent}/public-links`, body)
  assert.equal(reply.status, 201, reply.text)
  return reply.json
}

/** Sends a request as a visitor, whose only credential is the link. */
const visit = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  platform.request(method, `/api/public${path}`, body, { token: null, headers })

async function confirm(token: string, email: string): Promise<string> {
  const requested = await visit('POST', '/verify/request', { token, email })
  assert.equal(requested.status, 200, requested.text)
  const code = await eventually(
    async () => {
      const texts = await Promise.all(
        (await readdir(mails)).map((name) => readFile(join(mails, name), 'utf8')),
      )
      return /^Subject: (\d{6})/m.exec(texts.find((text) => text.includes(`To: ${email}`)) ?? '')?.[1]
    },
    (found) => found !== undefined,
  )
  const confirmed = await visit('POST', '/verify/confirm', { token, email, code })
  assert.equal(confirmed.status, 200, confirmed.text)
  return confirmed.json.session_token
}

test('an open link: replies, remembers, separates visitors, starts a new conversation', async () => {
  const { token } = await newLink({ name: 'Site' })
  const first = await visit('POST', `/chat/${token}`, { message: 'The word is teapot. [[reply:noted]]' })
  assert.equal(first.status, 200, first.text)
  assert.deepEqual([first.json.response, first.json.message_count], ['noted', 2])
  const { session_id } = first.json
  const recall = { message: '[[recall:teapot]]' }
  const [mine, theirs] = await Promise.all([
    visit('POST', `/chat/${token}`, { ...recall, session_id }),
    visit('POST', `/chat/${token}`, recall),
  ])
  assert.deepEqual([mine.json.response, theirs.json.response], ['recall=yes', 'recall=no'])
  const { json: history } = await visit('GET', `/history/${token}?session_id=${session_id}`)
  assert.deepEqual(
    history.messages.map(({ role }: Loose) => role),
    ['user', 'assistant', 'user', 'assistant'],
  )
  const reset = await visit('DELETE', `/session/${token}?session_id=${session_id}`)
  assert.equal(reset.json.cleared, true)
  const after = await visit('POST', `/chat/${token}`, { ...recall, session_id: reset.json.new_session_id })
  assert.equal(after.json.response, 'recall=no')
})

test('the stream of a turn contains no inputs, and only its own link can stop it', async () => {
  const [{ token }, other] = [await newLink(), await newLink()]
  const message = 'Look. [[tool:Bash:cat /etc/hostname]] [[hold:public]] [[reply:seen]]'
  const sent = await visit('POST', `/chat/${token}`, { message, async_mode: true })
  assert.deepEqual([sent.status, sent.json.status], [200, 'accepted'], sent.text)
  const { execution_id } = sent.json
  const refused = await visit('POST', `/executions/${other.token}/${execution_id}/terminate`)
  assert.deepEqual([refused.status, refused.json.error], [404, 'execution_not_found'])
  platform.model.release('public')
  const stream = await visit('GET', `/executions/${token}/${execution_id}/stream?partials=true`)
  assert.match(stream.text, /"type":"tool_use","name":"Bash"/)
  assert.match(stream.text, /"text":"seen"/)
  assert.match(stream.text, /"type":"stream_end","status":"success"/)
  for (const secret of ['/etc/hostname', 'tool_result', 'cost', 'session_id', 'Look.']) {
    assert.equal(stream.text.includes(secret), false, secret)
  }
  const { json: status } = await visit('GET', `/executions/${token}/${execution_id}/status`)
  assert.deepEqual([status.status, status.response], ['success', 'seen'])
  const { session_id } = sent.json
  const slow = visit('POST', `/chat/${token}`, { message: '[[sleep:60]] [[reply:late]]', session_id })
  const { json: current } = await eventually(
    () => visit('GET', `/history/${token}?session_id=${session_id}`),
    ({ json }) => json.in_flight_execution_id !== null,
  )
  const stop = await visit('POST', `/executions/${token}/${current.in_flight_execution_id}/terminate`)
  assert.equal(stop.status, 200, stop.text)
  assert.deepEqual([(await slow).status, (await slow).json.response], [200, null])
})

test('a link that requires an address: the mailed code opens it; log and audit contain no token', async () => {
  const { id, token } = await newLink({ require_email: true })
  assert.equal((await visit('POST', `/chat/${token}`, { message: 'hi' })).json.error, 'session_expired')
  const session = await confirm(token, 'sam@example.org')
  const headers = { 'x-session-token': session }
  const sent = await visit('POST', `/chat/${token}`, { message: '[[reply:welcome]]' }, headers)
  assert.equal(sent.json.response, 'welcome', sent.text)
  const { json: rows } = await platform.request('GET', `/api/agents/${agent}/executions?triggered_by=public`)
  assert.equal(rows[0].source_user_email, 'sam@example.org')
  const path = `/executions/${token}/${sent.json.execution_id}/status`
  assert.equal((await visit('GET', path)).status, 401)
  assert.equal((await visit('GET', path, undefined, headers)).json.response, 'welcome')
  const disabled = await platform.request('PUT', `/api/agents/${agent}/public-links/${id}`, {
    enabled: false,
  })
  assert.deepEqual([disabled.json.usage.total_messages, disabled.json.usage.unique_people], [1, 1])
  assert.equal((await visit('GET', `/link/${token}`)).json.error, 'link_not_found')
  const { text: audit } = await platform.request('GET', '/api/audit-log?limit=1000')
  assert.match(audit, /"public_chat"/)
  for (const secret of [token, session]) {
    assert.equal(audit.includes(secret), false)
    assert.equal(platform.output().includes(secret), false)
  }
})
