/** Webhooks: what an outside call starts, who may call, and the response to a repeated call. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { eventually, type Loose, type Platform, type Reply, signIn, startPlatform } from './platform.ts'
import { assertShape, createAgent, isOver, untilExecution } from './steps.ts'

const name = 'qa-hooks'
let platform: Platform
before(async () => {
  platform = await startPlatform({ env: { WEBHOOK_IP_RATE_LIMIT: '1000' } })
  await createAgent(platform, name)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

type Hook = { id: string; url: string; manage(method: string, path?: string): Promise<Reply> }

async function hook(message: string): Promise<Hook> {
  const body = { name: 'hooked', cron_expression: '0 3 * * *', message, enabled: false }
  const { json } = await platform.request('POST', `/api/agents/${name}/schedules`, body)
  const manage = (method: string, path = '') =>
    platform.request(method, `/api/agents/${name}/schedules/${json.id}/webhook${path}`)
  const made = await manage('POST')
  assert.equal(made.status, 200, made.text)
  return { id: json.id, url: made.json.webhook_url, manage }
}

/** Calls from outside; the address is the only credential. */
async function call(url: string, body = '', headers: Record<string, string> = {}): Promise<Reply> {
  const path = new URL(url).pathname
  return platform.request('POST', path, body, { token: null, headers })
}

test('202 with a run of the schedule; its message contains the payload as data', async () => {
  const { id, url } = await hook('look at this [[echo]]')
  const reply = await call(
    url,
    JSON.stringify({ context: 'disk /dev/sda1 is full', metadata: { host: 'db-1' } }),
  )
  assert.equal(reply.status, 202, reply.text)
  assertShape(
    reply.json,
    {
      status: 'string',
      schedule_id: 'string',
      agent_name: 'string',
      execution_id: 'string',
      message: 'string',
    },
    'reply',
  )
  const row = await untilExecution(platform, name, reply.json.execution_id, isOver)
  assert.deepEqual([row.status, row.triggered_by, row.schedule_id], ['success', 'webhook', id])
  assert.match(row.response, /disk \/dev\/sda1 is full/)
  assert.match(row.response, /data/)
})

// Must precede the tests that leave many runs behind, or its own would wait for them.
test('a key survives a restart; a stopped agent is 503 and leaves the key unused', async () => {
  const { url } = await hook('[[reply:later]]')
  const headers = { 'idempotency-key': 'survivor' }
  const first = await call(url, '', headers)
  await untilExecution(platform, name, first.json.execution_id, isOver)
  await platform.killApi()
  await platform.startApi()
  platform.token = await signIn(platform)
  assert.equal((await call(url, '', headers)).json.execution_id, first.json.execution_id)
  await platform.request('POST', `/api/agents/${name}/stop`)
  const stopped = await call(url, '{"context":"x"}')
  assert.deepEqual([stopped.status, stopped.json.error], [503, 'agent_not_running'])
  await platform.request('POST', `/api/agents/${name}/start`)
  await eventually(
    () => call(url, '{"context":"x"}'),
    ({ status }) => status === 202,
  )
})

test('without a body each call fires; a repeated body or key fires once', async () => {
  const { id, url } = await hook('[[reply:fired]]')
  const runs = async () =>
    (await platform.request('GET', `/api/agents/${name}/schedules/${id}/executions`)).json.length
  for (const _ of [1, 2]) assert.equal((await call(url)).status, 202)
  const body = '{"context":"one"}'
  const [first, second] = [await call(url, body), await call(url, body)]
  assert.deepEqual([second.status, second.json], [202, first.json])
  assert.equal(second.headers.get('x-idempotent-replay'), 'true')
  const keyed = await call(url, '{"context":"two"}', { 'idempotency-key': 'k' })
  const again = await call(url, '{"context":"three"}', { 'idempotency-key': 'k' })
  assert.equal(again.json.execution_id, keyed.json.execution_id)
  assert.equal(await runs(), 4)
})

test('once there is a secret, a signature over the exact bytes is required', async () => {
  const { url, manage } = await hook('[[reply:signed]]')
  const { signing_secret } = (await manage('POST', '/secret')).json
  const sign = (text: string) => `sha256=${createHmac('sha256', signing_secret).update(text).digest('hex')}`
  const body = '{ "context": "exactly so" }'
  assert.equal((await call(url, body)).json.error, 'invalid_signature')
  assert.equal((await call(url, body, { 'x-svc-signature': sign('{"context":"exactly so"}') })).status, 401)
  assert.equal((await call(url, body, { 'x-svc-signature': sign(body) })).status, 202)
  assert.equal((await call(url, '', { 'x-svc-signature': sign('') })).status, 202)
  const rotated = (await manage('POST')).json
  assert.equal(rotated.has_secret, false)
  assert.equal((await call(url, '', { 'x-svc-signature': sign('') })).status, 404)
  assert.equal((await call(rotated.webhook_url)).status, 202)
})

test('ten calls per minute, then 429 with retry-after; unknown and revoked addresses get the same 404', async () => {
  const { url, manage } = await hook('[[reply:often]]')
  for (let i = 0; i < 10; i += 1) assert.equal((await call(url)).status, 202)
  const refused = await call(url)
  assert.deepEqual([refused.status, refused.json.error], [429, 'rate_limited'])
  const wait = Number(refused.headers.get('retry-after'))
  assert.ok(wait >= 1 && wait <= 60, `${wait}`)
  assert.equal((await manage('DELETE')).status, 204)
  const revoked = await call(url)
  const unknown = await call(`${platform.url}/api/webhooks/${'x'.repeat(43)}`)
  const errorOf = ({ status, json: { request_id: _, ...error } }: typeof revoked) => ({ status, error })
  assert.equal(revoked.status, 404)
  assert.deepEqual(errorOf(revoked), errorOf(unknown))
})

test('the audit log contains every call with address, agent and schedule; the token appears nowhere', async () => {
  const { id, url } = await hook('[[reply:audited]]')
  await call(url)
  await call(url, 'nonsense')
  const read = async (): Promise<Loose[]> => {
    const { json } = await platform.request('GET', '/api/audit-log?event_type=webhook&limit=100')
    return (json.entries ?? json).filter(
      (entry: Loose) => entry.event_action === 'call' && entry.details.schedule_id === id,
    )
  }
  const entries = await eventually(read, (found) => found.length === 2)
  assert.deepEqual(new Set(entries.map(({ status }) => status)), new Set([202, 422]))
  for (const entry of entries) {
    assert.equal(entry.target_id, name)
    assert.ok(entry.actor_ip)
    assert.equal(entry.actor_type, 'anonymous')
  }
  const token = url.slice(-43)
  assert.ok(!platform.output().includes(token), 'the log holds no token')
  assert.ok(!JSON.stringify(entries).includes(token))
})
