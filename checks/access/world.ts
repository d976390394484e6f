/** A complete platform in this process, with one credential for each kind of caller. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyScope } from '@roost/contracts/kit/access'
import { compose } from '../../server/src/compose.ts'
import { parseConfig } from '../../server/src/config.ts'
import { listen } from '../../server/src/http/listen.ts'
import { createPlatformServer } from '../../server/src/http/platform.ts'
import { hashOfKey, newKeyText } from '../../server/src/identity/keys/key-text.ts'
import { keyStore } from '../../server/src/identity/keys/store.ts'
import { timestamp } from '../../server/src/kit/clock.ts'
import { newId } from '../../server/src/kit/ids.ts'
import { secret } from '../../server/src/kit/secret.ts'
import { migrations } from '../../server/src/migrations/index.ts'
import { agentRuntimes } from '../../server/src/ports/agent-images/port.ts'
import { createFakeEngine } from '../../server/src/ports/containers/fake.ts'
import { migrate, runningState } from '../../server/src/ports/database/migrator.ts'
import { memoryEphemeral } from '../../server/src/ports/ephemeral/memory.ts'
import { silentLog } from '../../server/src/ports/log.ts'
import { createFakeMailer } from '../../server/src/ports/mail/fake.ts'
import { openAdapters } from '../../server/src/start/adapters.ts'
import { createTestClock } from '../../server/src/test/clock.ts'
import { eventually } from '../acceptance/platform.ts'
import { type RefusedCredential, refusedCredentials } from './kinds.ts'

export const password = 'correct horse battery'
/** The credential of the platform's own processes. */
export const internalSecret = 'the-internal-secret-of-this-world'
const day = 86_400

export type Reply = { status: number; error: string | null; text: string; headers: Headers }
export type World = Awaited<ReturnType<typeof openWorld>>

type Options = {
  /** The build of the web UI; without it there are no pages. */
  pagesFolder?: string
  /** The port to which `/mcp` is forwarded. */
  mcpUrl?: string
  env?: Record<string, string>
}

export async function openWorld(options: Options = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-access-'))
  const config = parseConfig({
    ROOST_DATA_DIR: dataDir,
    ROOST_CONTAINERS_URL: 'fake:',
    ROOST_MAIL_URL: 'log:',
    ...options.env,
  })
  const clock = createTestClock('2030-01-01T00:00:00.000Z')
  const mail = createFakeMailer()
  const opened = await openAdapters(config, silentLog, {})
  await opened.ephemeral.close()
  await opened.containers.close()
  const engine = createFakeEngine({ images: agentRuntimes.map((name) => opened.images.tagFor(name).image) })
  const adapters = {
    ...opened,
    containers: engine.containers('access'),
    ephemeral: memoryEphemeral({ clock, log: silentLog }),
    clock,
    mail,
  }
  const { db } = adapters
  await migrate(db, migrations, { now: clock.now })

  const start = async () => {
    const platform = await compose(config, adapters, {
      replicaId: 'this-process',
      agentsHost: () => '127.0.0.1',
      ownAddresses: () => [],
      internalSecret: secret(internalSecret),
      openClosedNetwork: adapters.containers.ensureClosedNetwork,
    })
    const server = createPlatformServer({
      platform,
      log: silentLog,
      clock,
      trustedProxies: [],
      internalPort: 0,
      agentsHosts: () => ['127.0.0.1'],
      controlHost: 'roost-control',
      isStopping: () => false,
      storeProblems: async () => [],
      migrations: () => runningState(db, migrations),
      pagesFolder: options.pagesFolder ?? join(dataDir, 'no-pages'),
      ...(options.mcpUrl === undefined ? {} : { mcpUrl: options.mcpUrl }),
      checkReplies: true,
    })
    await server.ready()
    await platform.open()
    const open = server.attachSockets(await serve(server.publicHandler))
    const internal = server.attachLinks(await serve(server.internalHandler))
    const control = await serve(server.controlHandler, '0.0.0.0')
    const close = async () => {
      server.endStreams()
      await platform.sockets.close()
      for (const each of [open, internal, control]) {
        each.close()
        each.closeAllConnections()
      }
      await platform.close()
    }
    const { port: controlPort } = control.address() as AddressInfo
    return { platform, close, url: urlOf(open), internalUrl: urlOf(internal), controlPort }
  }
  let running = await start()

  async function ask(
    method: string,
    path: string,
    { token, body, form, headers = {}, internal = false }: RequestOptions = {},
  ): Promise<Reply> {
    const response = await fetch((internal ? running.internalUrl : running.url) + path, {
      method,
      redirect: 'manual',
      signal: AbortSignal.timeout(120_000),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: form ? new URLSearchParams(form) : body === undefined ? null : text(body),
    })
    const answer = await response.text()
    const parsed = objectOf(answer)
    // Every error body leads to the log entry of its request.
    if (parsed && 'error' in parsed && response.status >= 400 && !path.startsWith('/broker/'))
      assert.equal(parsed.request_id, response.headers.get('x-request-id'), `${method} ${path}: ${answer}`)
    const error = parsed && 'error' in parsed ? String(parsed.error) : null
    return { status: response.status, error, text: answer, headers: response.headers }
  }
  const ok = async (...request: Parameters<typeof ask>) => {
    const reply = await ask(...request)
    assert.ok(reply.status < 300, `${request[0]} ${request[1]}: ${reply.text}`)
    return JSON.parse(reply.text)
  }

  const signInAdmin = async (): Promise<string> =>
    (await ok('POST', '/api/token', { form: { username: 'admin', password } })).access_token
  await ok('POST', '/api/setup/admin-password', { body: { password } })
  let admin = await signInAdmin()

  /** Signs in by mail and returns the reply. */
  async function signIn(email: string) {
    const before = mail.sent.length
    await ok('POST', '/api/auth/email/request', { body: { email } })
    const sent = () => mail.sent.slice(before).find((each) => each.to === email)
    // Mail is sent after the response.
    const message = await eventually(async () => sent(), Boolean)
    const code = /\b\d{6}\b/.exec(message?.text ?? '')?.[0]
    return ok('POST', '/api/auth/email/verify', { body: { email, code } })
  }
  async function person(email: string, role: string): Promise<string> {
    const body = { email, default_role: role }
    await ok('POST', '/api/settings/email-whitelist', { token: admin, body })
    return (await signIn(email)).access_token
  }
  const idOf = async (token: string): Promise<string> => (await ok('GET', '/api/users/me', { token })).id
  const setRole = (email: string, role: string) =>
    ok('PUT', `/api/users/${email}/role`, { token: admin, body: { role } })
  const mint = async (token: string, body: object) => ok('POST', '/api/mcp/keys', { token, body })

  /** Inserts a key of a scope that no route mints on request. */
  async function plantKey(scope: KeyScope, userId: string, agentId: string | null): Promise<string> {
    const key = newKeyText()
    await keyStore(db).insert({
      id: newId(),
      user_id: userId,
      agent_id: agentId,
      name: scope,
      description: null,
      scope,
      key_hash: hashOfKey(key),
      key_prefix: key.slice(0, 12),
      created_at: timestamp(clock.now()),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      usage_count: 0,
      default_of: null,
    })
    return key
  }

  async function makeAgent(token: string, name: string): Promise<string> {
    await ok('POST', '/api/agents', { token, body: { name } })
    await ok('POST', `/api/agents/${name}/stop`, { token })
    const row = await db
      .withTables<{ agents: { id: string; name: string } }>()
      .selectFrom('agents')
      .select('id')
      .where('name', '=', name)
      .executeTakeFirstOrThrow()
    return row.id
  }

  /** Changes the record alone; nothing that runs is ended. */
  async function setStopped(name: string): Promise<void> {
    await db
      .withTables<{ agents: { name: string; status: string; desired: string } }>()
      .updateTable('agents')
      .set({ status: 'stopped', desired: 'stopped' })
      .where('name', '=', name)
      .execute()
    // The records of agents are read again.
    await clock.advance(60)
  }

  return {
    db,
    engine,
    setStopped,
    /** Runs a background loop once. */
    async runLoop(name: string) {
      const loop = running.platform.loops.find((each) => each.name === name) ?? assert.fail(name)
      await loop.run(new AbortController().signal)
    },
    clock,
    mail,
    ask,
    ok,
    person,
    signIn,
    signInAdmin,
    idOf,
    setRole,
    mint,
    plantKey,
    makeAgent,
    get admin() {
      return admin
    },
    async renewAdmin() {
      admin = await signInAdmin()
      return admin
    },
    get url() {
      return running.url
    },
    get internalUrl() {
      return running.internalUrl
    },
    /** Port of the control listener, on all addresses of this machine. */
    get controlPort() {
      return running.controlPort
    },
    /** Restarts the process: the same data, another boot. */
    async restart() {
      await running.close()
      running = await start()
      admin = await signInAdmin()
    },
    /** Credentials that are invalid, in an order in which each can be created. */
    async refused(): Promise<Record<RefusedCredential, string>> {
      const created = new Map<RefusedCredential, string>()
      created.set('random text', 'aaaa.bbbb.cccc')
      created.set('session of another boot', await signInAdmin())
      await this.restart()
      created.set('expired session', await person('late@example.org', 'user'))
      const tomorrow = new Date(clock.now().getTime() + day * 1000).toISOString()
      created.set(
        'expired key',
        (await mint(admin, { name: 'late', scope: 'ops', expires_at: tomorrow })).key,
      )
      await clock.advance(8 * day)
      admin = await signInAdmin()

      created.set('session after logout', await person('left@example.org', 'user'))
      await ok('POST', '/api/auth/logout', { token: created.get('session after logout') })
      const suspended = await person('suspended@example.org', 'user')
      created.set('session of a suspended person', suspended)
      created.set('key of a suspended person', (await mint(suspended, { name: 'k' })).key)
      await ok('POST', '/api/users/suspended@example.org/suspend', { token: admin })
      const deleted = await person('gone@example.org', 'user')
      created.set('session of a deleted account', deleted)
      const deletedId = await idOf(deleted)
      await db
        .withTables<{ users: { id: string } }>()
        .deleteFrom('users')
        .where('id', '=', deletedId)
        .execute()
      // Removing an account normally clears the cache; here only time does.
      await clock.advance(6)
      const revoked = await mint(admin, { name: 'revoked' })
      created.set('revoked key', revoked.key)
      await ok('POST', `/api/mcp/keys/${revoked.id}/revoke`, { token: admin })
      const demoted = await person('demoted@example.org', 'admin')
      created.set('ops key of a demoted admin', (await mint(demoted, { name: 'ops', scope: 'ops' })).key)
      await setRole('demoted@example.org', 'user')
      await ok('PUT', '/api/enterprise/2fa/policy', { token: admin, body: { required_roles: ['operator'] } })
      await ok('POST', '/api/settings/email-whitelist', {
        token: admin,
        body: { email: 'second@example.org', default_role: 'operator' },
      })
      created.set('second-factor challenge', (await signIn('second@example.org')).challenge_token)
      created.set('socket ticket', (await ok('POST', '/api/ws/ticket', { token: admin })).ticket)
      return Object.fromEntries(
        refusedCredentials.map((name) => [name, created.get(name) ?? assert.fail(name)]),
      ) as Record<RefusedCredential, string>
    },
    async [Symbol.asyncDispose]() {
      await running.close()
      await adapters.db.close()
      await adapters.ephemeral.close()
      await adapters.containers.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export type RequestOptions = {
  token?: string | undefined
  /** A string is sent unchanged. */
  body?: object | string | undefined
  form?: Record<string, string>
  headers?: Record<string, string>
  internal?: boolean
}

function text(body: object | string): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

async function serve(handler: RequestListener, host = '127.0.0.1'): Promise<Server> {
  return (await listen({ host, port: 0 }, handler)).server
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function objectOf(answer: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(answer)
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null
  } catch {
    return null
  }
}
