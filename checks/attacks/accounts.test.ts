/** Strangers who lock people out, suspended people who come back, and passwords that everybody guesses. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import { openLive } from '../acceptance/live.ts'
import { adminPassword, type Platform, type Reply, startPlatform } from '../acceptance/platform.ts'
import { succeed } from './people.ts'

const portal = '/api/enterprise/client-portal'
const guessedPassword = 'a guess that is wrong'

let platform: Platform
let mail: MailServer
before(async () => {
  mail = await startMailServer({ account: { user: 'roost@example.com', password: 'p@ss word' } })
  // The test plays a trusted proxy, so that each request can come from an address of its own.
  const env = { ROOST_MAIL_URL: mail.url, ROOST_TRUSTED_PROXIES: '127.0.0.1', ROOST_CONTAINERS_URL: 'fake:' }
  platform = await startPlatform({ env })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
  await mail?.close()
})

/** A browser or program at one address. Keeps cookies only if it is a browser. */
type Client = { address: string; cookies?: Map<string, string> }
let lastAddress = 0
const newAddress = () => {
  lastAddress += 1
  return `198.51.${lastAddress >> 8}.${lastAddress & 255}`
}
const newProgram = (): Client => ({ address: newAddress() })
const newBrowser = (): Client => ({ address: newAddress(), cookies: new Map() })

async function post(client: Client, path: string, body: object | string, token: string | null = null) {
  const cookie = [...(client.cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  const reply = await platform.request('POST', path, body, {
    token,
    headers: {
      'x-forwarded-for': client.address,
      ...(cookie === '' ? {} : { cookie }),
      ...(typeof body === 'string' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    },
  })
  for (const line of client.cookies ? reply.headers.getSetCookie() : []) {
    const [pair = ''] = line.split(';')
    client.cookies?.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
  }
  return reply
}
const signIn = (client: Client, password = adminPassword, username = 'admin') =>
  post(client, '/api/token', new URLSearchParams({ username, password }).toString())
const requestCode = (client: Client, email: string, base = '/api/auth/email') =>
  succeed(post(client, `${base}/request`, { email }))
const verify = (client: Client, email: string, code: string, base = '/api/auth/email') =>
  post(client, `${base}/verify`, { email, code })
const mailedCode = async (email: string) => {
  const { text } = await mail.next(email)
  return /\b\d{6}\b/.exec(text)?.[0] ?? assert.fail(text)
}
/** A code of the right form that is not this one. */
const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const invite = async (email: string) => {
  await succeed(platform.request('POST', '/api/settings/email-whitelist', { email }))
  return email
}
const outcome = ({ status, json }: Reply) => (status < 300 ? 'success' : `${status} ${json?.error}`)
/** The number of times that one stranger may be wrong about one account, and all strangers together. */
const [fromOneAddress, passwordsOfAll, codesOfAll] = [5, 100, 25]

async function guessPasswords(times: number, from: () => Client): Promise<void> {
  for (let done = 0; done < times; done += fromOneAddress) {
    const stranger = from()
    await Promise.all(Array.from({ length: fromOneAddress }, () => signIn(stranger, guessedPassword)))
  }
}

describe('a stranger locks a person out', () => {
  test('with wrong passwords from some addresses', async () => {
    await guessPasswords(30, newProgram)
    assert.equal(outcome(await signIn(newProgram())), 'success')
  })

  test('with wrong passwords from one address, which may not go on', async () => {
    const stranger = newProgram()
    await guessPasswords(fromOneAddress, () => stranger)
    assert.equal(outcome(await signIn(stranger)), '429 too_many_attempts')
    assert.equal(outcome(await signIn(newProgram())), 'success')
  })

  test('with the addresses of one IPv6 network, which count as one', async () => {
    await guessPasswords(fromOneAddress, () => ({ address: '2a00:1:2:3::1' }))
    const neighbour = { address: '2a00:1:2:3:ffff::7' }
    assert.equal(outcome(await signIn(neighbour)), '429 too_many_attempts')
    assert.equal(outcome(await signIn({ address: '2a00:1:2:4::1' })), 'success')
  })

  test('by guessing from behind the same proxy as the person: known browsers still get in', async () => {
    const known = newBrowser()
    assert.equal(outcome(await signIn(known)), 'success')
    const stranger = { address: known.address }
    for (let i = 0; i < 30; i += 1)
      await signIn(stranger, guessedPassword, `nobody-${Math.floor(i / 5)}@example.com`)
    assert.equal(outcome(await signIn(stranger)), '429 too_many_attempts')
    assert.equal(outcome(await signIn(known)), 'success')
  })

  test('with wrong e-mail codes', async () => {
    const email = await invite('ann@example.com')
    const [person, stranger] = [newProgram(), newProgram()]
    await requestCode(person, email)
    const code = await mailedCode(email)
    for (let i = 0; i <= fromOneAddress; i += 1) await verify(stranger, email, otherThan(code))
    assert.equal(outcome(await verify(stranger, email, code)), '429 too_many_attempts')
    assert.equal(outcome(await verify(person, email, code)), 'success')
  })

  test('with requests for newer codes', async () => {
    const email = await invite('bob@example.com')
    const [person, stranger] = [newProgram(), newProgram()]
    await requestCode(person, email)
    const code = await mailedCode(email)
    for (let i = 0; i < 2; i += 1) {
      await requestCode(stranger, email)
      await mailedCode(email)
    }
    assert.equal(outcome(await verify(person, email, code)), 'success')
    await requestCode(person, email)
    await mailedCode(email)
  })

  test('with wrong codes from very many addresses: known browsers still get in', async () => {
    const email = await invite('cleo@example.com')
    const known = newBrowser()
    await requestCode(known, email)
    assert.equal(outcome(await verify(known, email, await mailedCode(email))), 'success')
    await requestCode(known, email)
    const code = await mailedCode(email)
    for (let i = 0; i < codesOfAll / fromOneAddress; i += 1) {
      const stranger = newProgram()
      for (let j = 0; j < fromOneAddress; j += 1) await verify(stranger, email, otherThan(code))
    }
    assert.equal(outcome(await verify(newProgram(), email, code)), '429 too_many_attempts')
    assert.equal(outcome(await verify(known, email, code)), 'success')
  })

  test('with wrong codes for the Workspace', async () => {
    const email = await workspacePerson('dora@example.com', 'qa-portal')
    const [person, stranger] = [newProgram(), newProgram()]
    const base = `${portal}/auth`
    await requestCode(person, email, base)
    const code = await mailedCode(email)
    for (let i = 0; i <= fromOneAddress; i += 1) await verify(stranger, email, otherThan(code), base)
    assert.equal(outcome(await verify(person, email, code, base)), 'success')
  })
})

describe('a mark of a known browser', () => {
  test('is of no use to a stranger: altered, of another account, or after the guesses it allows', async () => {
    const known = newBrowser()
    assert.equal(outcome(await signIn(known)), 'success')
    const email = await invite('eve@example.com')
    const eve = newBrowser()
    await requestCode(eve, email)
    assert.equal(outcome(await verify(eve, email, await mailedCode(email))), 'success')
    const [mark = ['', '']] = known.cookies ?? []
    const [eves = ['', '']] = eve.cookies ?? []
    const stranger = newProgram()
    const forged = [
      [mark[0], eves[1]],
      [mark[0], eves[1].replace(/^[^.]*/, 'A'.repeat(22))],
      [mark[0], `${mark[1].slice(0, -1)}${mark[1].endsWith('A') ? 'B' : 'A'}`],
      [mark[0], mark[1].replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))],
      [mark[0], ''],
    ] as const
    for (const cookie of forged) await signIn({ ...stranger, cookies: new Map([cookie]) }, guessedPassword)
    assert.equal(outcome(await signIn(stranger)), '429 too_many_attempts')
    const stolen = { address: newAddress(), cookies: new Map([mark]) }
    for (let i = 0; i < fromOneAddress; i += 1) await signIn(stolen, guessedPassword)
    assert.equal(outcome(await signIn(stolen)), '429 too_many_attempts')
  })

  test('signs nobody in, and scripts of a page cannot read it', async () => {
    const known = newBrowser()
    const reply = await signIn(known)
    for (const line of reply.headers.getSetCookie())
      assert.match(line, /; HttpOnly/, 'the cookie is closed to scripts')
    const [[, value] = ['', '']] = known.cookies ?? []
    for (const token of [value, value.split('.')[0] ?? ''])
      assert.equal((await platform.request('GET', '/api/users/me', undefined, { token })).status, 401)
    const cookie = [...(known.cookies ?? [])].map((pair) => pair.join('=')).join('; ')
    const me = await platform.request('GET', '/api/users/me', undefined, { token: null, headers: { cookie } })
    assert.equal(me.status, 401)
  })
})

describe('a suspended person comes back', () => {
  const admin = () => platform.request('GET', '/api/users/me')
  const suspend = (email: string) => succeed(platform.request('POST', `/api/users/${email}/suspend`))
  const unsuspend = (email: string) => succeed(platform.request('POST', `/api/users/${email}/unsuspend`))
  const me = (token: string) => platform.request('GET', '/api/users/me', undefined, { token })
  const tokenOf = async (email: string) => {
    const client = newProgram()
    await requestCode(client, email)
    const reply = await verify(client, email, await mailedCode(email))
    return reply.json.access_token ?? reply.json.challenge_token ?? assert.fail(reply.text)
  }

  test('with a session from before the suspension', async () => {
    const email = await invite('finn@example.com')
    const token = await tokenOf(email)
    assert.equal((await me(token)).status, 200)
    await suspend(email)
    assert.equal(outcome(await me(token)), '401 invalid_token')
    await unsuspend(email)
    assert.equal(outcome(await me(token)), '401 invalid_token')
    assert.equal((await me(await tokenOf(email))).status, 200)
    assert.equal((await admin()).status, 200)
  })

  test('with a Workspace session from before the suspension', async () => {
    const email = await invite(await workspacePerson('gil@example.com', 'qa-return'))
    await tokenOf(email)
    const base = `${portal}/auth`
    const client = newProgram()
    await requestCode(client, email, base)
    const { token } = await succeed(verify(client, email, await mailedCode(email), base))
    const agents = () => platform.request('GET', `${portal}/my-agents`, undefined, { token })
    assert.equal((await agents()).status, 200)
    await suspend(email)
    assert.equal((await agents()).status, 401)
    await unsuspend(email)
    assert.equal(outcome(await agents()), '401 session_expired')
  })

  test('with a socket ticket or an open socket from before the suspension', async () => {
    const email = await invite('hal@example.com')
    const token = await tokenOf(email)
    const openSocket = async () => {
      const { ticket } = await succeed(platform.request('POST', '/api/ws/ticket', {}, { token }))
      return `/ws?ticket=${ticket}`
    }
    const open = openLive(platform, await openSocket())
    await open.next('connected')
    const unused = await openSocket()
    await suspend(email)
    await unsuspend(email)
    assert.equal(await open.closed, 4001)
    assert.equal(await openLive(platform, unused).closed, 4001)
  })

  test('with a half-finished sign-in or a mailed code from before the suspension', async () => {
    const email = await invite('ida@example.com')
    await tokenOf(email)
    const policy = (required_roles: string[]) =>
      succeed(platform.request('PUT', '/api/enterprise/2fa/policy', { required_roles }))
    await policy(['user'])
    const challenge_token = await tokenOf(email)
    await policy([])
    const client = newProgram()
    await requestCode(client, email)
    const code = await mailedCode(email)
    await suspend(email)
    await unsuspend(email)
    const enrolment = await post(client, '/api/enterprise/2fa/login/enroll/start', { challenge_token })
    assert.equal(outcome(enrolment), '401 challenge_expired')
    assert.equal(outcome(await verify(client, email, code)), '401 invalid_code')
  })

  test('with a key: it is refused during the suspension and works after it', async () => {
    const email = await invite('jon@example.com')
    const token = await tokenOf(email)
    const { key } = await succeed(
      platform.request('POST', '/api/mcp/keys', { name: 'jon', scope: 'user' }, { token }),
    )
    assert.equal((await me(key)).status, 200)
    await suspend(email)
    assert.equal(outcome(await me(key)), '401 invalid_token')
    await unsuspend(email)
    assert.equal((await me(key)).status, 200)
  })
})

describe('a password that everybody guesses', () => {
  test('is refused when it is set', async () => {
    const change = (new_password: string) =>
      platform.request('PUT', '/api/users/me/password', { current_password: adminPassword, new_password })
    for (const password of ['password1234', 'Password1234!', 'qwerty123456', '1q2w3e4r5t6y', 'dragondragon'])
      assert.equal(outcome(await change(password)), '400 weak_password', password)
  })

  test('is refused for the first admin', async () => {
    await using fresh = await startPlatform({ env: { ROOST_CONTAINERS_URL: 'fake:' }, password: false })
    const setUp = (password: string) =>
      fresh.request('POST', '/api/setup/admin-password', { password }, { token: null })
    for (const password of ['password1234', '123456789012', 'Qwertyuiop12'])
      assert.equal(outcome(await setUp(password)), '400 weak_password', password)
    assert.equal(outcome(await setUp(adminPassword)), 'success')
  })
})

// Last, because it locks the account for new browsers.
test('wrong passwords from very many addresses lock out new browsers, not known ones', async () => {
  const known = newBrowser()
  assert.equal(outcome(await signIn(known)), 'success')
  assert.notEqual(known.cookies?.size, 0, 'the sign-in marked the browser')
  await guessPasswords(passwordsOfAll, newProgram)
  assert.equal(outcome(await signIn(newProgram())), '429 too_many_attempts')
  assert.equal(outcome(await signIn(known)), 'success')
})

/** Returns the address of a person with whom the agent is shared. */
async function workspacePerson(email: string, agent: string): Promise<string> {
  await succeed(platform.request('POST', '/api/agents', { name: agent }))
  await succeed(platform.request('POST', `/api/agents/${agent}/share`, { email }))
  await succeed(platform.request('DELETE', `/api/settings/email-whitelist/${email}`)).catch(() => null)
  return email
}
