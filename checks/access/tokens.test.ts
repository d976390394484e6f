/** No confused, altered, forged or expired credential is accepted anywhere. */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { after, before, test } from 'node:test'
import { tryToConnect } from './try-to-connect.ts'
import { openWorld, type Reply, type World } from './world.ts'

let world: World
let session: string
let key: string
let refused: Record<string, string>
before(async () => {
  world = await openWorld()
  refused = await world.refused()
  session = await world.signInAdmin()
  key = (await world.mint(session, { name: 'good' })).key
})
after(() => world?.[Symbol.asyncDispose]())

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ownKey = randomBytes(32)

function forged(): Record<string, string> {
  const [head = '', payload = '', signature = ''] = session.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
  const now = Math.floor(world.clock.now().getTime() / 1000)
  const hmac = (text: string, algorithm = 'sha256') =>
    `${text}.${createHmac(algorithm, ownKey).update(text).digest('base64url')}`
  const signed = (changes: object, header: object = { alg: 'HS256', typ: 'JWT' }) =>
    hmac(`${encode(header)}.${encode({ ...claims, ...changes })}`)
  const rsa = `${encode({ alg: 'RS256', typ: 'JWT' })}.${payload}`
  return {
    'alg none': `${encode({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'alg None, signature kept': `${encode({ alg: 'None' })}.${payload}.${signature}`,
    'alg none, without the last part': `${encode({ alg: 'none' })}.${payload}`,
    'no signature': `${head}.${payload}.`,
    'RS256 by a key of its own': `${rsa}.${sign('sha256', Buffer.from(rsa), privateKey).toString('base64url')}`,
    'HS512 by a key of its own': hmac(`${encode({ alg: 'HS512', typ: 'JWT' })}.${payload}`, 'sha512'),
    'the signature of another algorithm': `${encode({ alg: 'HS512', typ: 'JWT' })}.${payload}.${signature}`,
    'a key in its own header': signed(
      {},
      { alg: 'HS256', jwk: { kty: 'oct', k: ownKey.toString('base64url') } },
    ),
    'a key id that is a path': signed({}, { alg: 'HS256', kid: '../../dev/null' }),
    'signed by another key': signed({}),
    'another issuer': signed({ iss: 'https://elsewhere.example.org' }),
    'another audience': signed({ aud: 'elsewhere' }),
    'not before tomorrow': signed({ nbf: now + 86_400 }),
    'expired, made longer': signed({ exp: now + 999_999 }),
    'somebody else, same signature': `${head}.${encode({ ...claims, sub: 'owner@example.org' })}.${signature}`,
    'a longer life, same signature': `${head}.${encode({ ...claims, exp: now + 999_999 })}.${signature}`,
    'a letter of the signature changed': `${head}.${payload}.${(signature[0] === 'A' ? 'B' : 'A') + signature.slice(1)}`,
    'a padded signature': `${session}=`,
    'four parts': `${session}.${signature}`,
    twice: `${session},${session}`,
    'with a key behind it': `${session} ${key}`,
    'a session with the prefix of keys': `svc_mcp_${session}`,
    'a key without its prefix': key.slice('svc_mcp_'.length),
    'a key as the last part of a token': `${head}.${payload}.${key}`,
    'a key with a letter more': `${key}A`,
    'a key in other case': `SVC_MCP_${key.slice(8)}`,
    'the visible part of a key': key.slice(0, 12),
    'the hash of a key': createHmac('sha256', '').update(key).digest('hex'),
    'the id of the session': String(claims.jti),
  }
}

const routes = [
  ['GET', '/api/users/me'],
  ['GET', '/api/auth/validate'],
  ['GET', '/api/agents'],
  ['POST', '/api/ws/ticket'],
  ['POST', '/api/mcp/validate'],
  ['GET', '/api/settings'],
] as const

async function accepted(candidates: Record<string, string>): Promise<string[]> {
  const acceptedUses: string[] = []
  for (const [name, token] of Object.entries(candidates)) {
    for (const [method, path] of routes) {
      const { status } = await world.ask(method, path, { token })
      if (status !== 401) acceptedUses.push(`${name}: ${method} ${path} ${status}`)
    }
    const sockets = world.url.replace('http', 'ws')
    for (const url of [`${sockets}/ws?ticket=`, `${sockets}/ws/events?token=`]) {
      const answer = await tryToConnect(url + encodeURIComponent(token), {})
      // The ticket is accepted only where it belongs.
      if (answer === 'ok' && !(name === 'socket ticket' && url.includes('ticket=')))
        acceptedUses.push(`${name}: ${url}`)
    }
    for (const path of ['verify', 'enroll/confirm']) {
      const body = { challenge_token: token, code: '000000' }
      const { status, error } = await world.ask('POST', `/api/enterprise/2fa/login/${path}`, { body })
      const isChallenge = name === 'second-factor challenge' && (error === 'invalid_code' || status === 409)
      // Longer than any challenge, so refused before the lookup.
      const isTooLong = status === 422 && error === 'validation_error'
      if (status !== 401 && !isTooLong && !isChallenge)
        acceptedUses.push(`${name}: 2fa ${path} ${status} ${error}`)
    }
  }
  return acceptedUses
}

test('forged, altered and confused credentials are refused', async () => {
  assert.deepEqual(await accepted(forged()), [])
})

test('expired and revoked credentials are refused', async () => {
  assert.deepEqual(await accepted(refused), [])
})

test('a credential counts only in its place: not in a cookie, a query, a body, or under another scheme', async () => {
  const me = '/api/users/me'
  const tries: [path: string, headers: Record<string, string>][] = [
    [me, { cookie: `access_token=${session}; token=${session}` }],
    [`${me}?token=${session}&access_token=${key}`, {}],
    [me, { 'x-api-key': key }],
    [me, { authorization: `Basic ${Buffer.from(`admin:${session}`).toString('base64')}` }],
    [me, { authorization: `Token ${session}` }],
    [me, { authorization: session }],
  ]
  for (const [path, headers] of tries) {
    const { status, error } = await world.ask('GET', path, { headers })
    assert.deepEqual([status, error], [401, 'not_authenticated'], JSON.stringify(headers).slice(0, 40))
  }
})

/** A reply without the parts that differ between any two requests: the date and the request id. */
const constant = ({ status, text, headers }: Reply) => {
  const requestId = headers.get('x-request-id') ?? ''
  const fixed = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
  return { status, text: text.replaceAll(requestId, 'REQUEST-ID'), headers: fixed.sort() }
}
const assertIdentical = (one: Reply, other: Reply) => assert.deepEqual(constant(one), constant(other))

test('known and unknown targets get identical responses, to the byte', async () => {
  const { access_token: stranger } = await world.signIn('late@example.org')
  const owner = await world.person('owner@example.org', 'creator')
  await world.makeAgent(owner, 'hidden-1')
  const as = { token: stranger }
  for (const path of ['', '/files', '/executions', '/shares', '/mcp-key', '/connector']) {
    const there = await world.ask('GET', `/api/agents/hidden-1${path}`, as)
    const missingTools = await world.ask('GET', `/api/agents/hidden-2${path}`, as)
    assert.equal(there.status, 404)
    assertIdentical(
      { ...there, text: there.text.replaceAll('hidden-1', 'x') },
      {
        ...missingTools,
        text: missingTools.text.replaceAll('hidden-2', 'x'),
      },
    )
  }
  const verify = (email: string) =>
    world.ask('POST', '/api/auth/email/verify', { body: { email, code: '000000' } })
  assertIdentical(await verify('owner@example.org'), await verify('nobody@example.org'))
  const request = (email: string) => world.ask('POST', '/api/auth/email/request', { body: { email } })
  assertIdentical(await request('owner@example.org'), await request('nobody@example.org'))
  const signIn = (username: string) =>
    world.ask('POST', '/api/token', { form: { username, password: 'wrong password' } })
  assertIdentical(await signIn('admin'), await signIn('nobody'))
  assertIdentical(await signIn('admin'), await signIn('owner@example.org'))
  const validate = (token: string) => world.ask('GET', '/api/auth/validate', { token })
  const revoked = refused['revoked key'] ?? assert.fail()
  assertIdentical(await validate(revoked), await validate(`svc_mcp_${'x'.repeat(43)}`))
  assertIdentical(await validate(refused['session after logout'] ?? ''), await validate('a.b.c'))
  const ownKey = await world.mint(owner, { name: 'hidden' })
  const keyRow = (id: string) => world.ask('GET', `/api/mcp/keys/${id}`, as)
  assertIdentical(await keyRow(ownKey.id), await keyRow('none'))
})

test('after a restart with the same data, earlier sessions are refused and keys are accepted', async () => {
  const before = { ...forged(), ...refused, 'the session of before': session }
  const ticket = (await world.ok('POST', '/api/ws/ticket', { token: session })).ticket
  await world.restart()
  assert.deepEqual(await accepted({ ...before, 'a new ticket of before': 'x'.repeat(43) }), [])
  assert.equal((await world.ask('GET', '/api/users/me', { token: key })).status, 200)
  assert.notEqual(await tryToConnect(`${world.url.replace('http', 'ws')}/ws?ticket=${ticket}`, {}), 'ok')
})
