import { randomBytes } from 'node:crypto'
import type { Role } from '@roost/contracts/kit/access'
import { createRateLimits } from '../../foundation/rate-limits/index.ts'
import { createVault, type Vault } from '../../foundation/vault/index.ts'
import { systemClock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db } from '../../ports/database/port.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createFakeMailer } from '../../ports/mail/fake.ts'
import { createTestClock, type TestClock } from '../../test/clock.ts'
import { createIdentify, openIdentityChanges } from '../access/index.ts'
import { createDevices } from '../devices/index.ts'
import { createEmailCodes, createEmailLogin } from '../email-login/index.ts'
import { createKeys, type Keys, type KeysDeps } from '../keys/index.ts'
import { createRunKeys, type RunKeysDeps } from '../run-keys/index.ts'
import { createSecondFactor } from '../second-factor/index.ts'
import { createSessions, openSigningKeys, type SessionsDeps } from '../sessions/index.ts'
import type { SigningKeys } from '../sessions/signing-key.ts'
import { type Account, createAllowList, createPeople, createUsers } from '../users/index.ts'
import { userStore } from '../users/store.ts'

export type World = {
  clock: TestClock
  ephemeral: Ephemeral
  vault: Vault
  agents: Map<string, string>
  /** What run keys are checked against. */
  runs: Pick<RunKeysDeps, 'running' | 'agent' | 'principalFor'>
  /** Shared keys for processes without Redis. Absent: each process has its own. */
  signingKeys?: SigningKeys
}

/** The parts that the processes of one platform share besides the database. */
export function createWorld(): World {
  const clock = createTestClock('2030-01-01T00:00:00.000Z')
  return {
    clock,
    ephemeral: memoryEphemeral({ clock, log: silentLog }),
    vault: createVault(randomBytes(32)),
    agents: new Map(),
    runs: {
      running: async () => null,
      agent: async () => null,
      principalFor: async () => ({ ended: 'No run is running.' }),
    },
  }
}

export type Identity = Awaited<ReturnType<typeof openIdentity>>

/** The identity area of one process, made of the real parts. */
export async function openIdentity(db: Db, world: World = createWorld()) {
  const { clock, ephemeral, vault, agents } = world
  const changes = await openIdentityChanges({ ephemeral, onLost: () => {} })
  const users = createUsers({ db, clock, changes })
  // Redis and the processes behind it use real time.
  const waits = ephemeral.kind === 'redis' ? systemClock : clock
  const signingKeys =
    world.signingKeys ?? (await openSigningKeys({ ephemeral, vault, clock: waits, log: silentLog }))
  const limits = createRateLimits({ ephemeral, clock })
  const allowList = createAllowList({ db, clock })
  const devices = createDevices({ vault, clock, baseUrl: 'https://roost.example.com' })
  const policy = { roles: [] as readonly Role[] }
  const secondFactor = createSecondFactor({
    db,
    clock,
    vault,
    limits,
    devices,
    users,
    policy: {
      roles: () => policy.roles,
      set: async (required) => {
        policy.roles = required
      },
    },
  })
  const endedHooks: SessionsDeps['onEnded'][] = []
  const sessions = createSessions({
    db,
    clock,
    changes,
    users,
    signingKeys,
    limits,
    devices,
    allowList,
    secondFactor,
    async onEnded(tx, ended) {
      for (const hook of endedHooks) await hook(tx, ended)
    },
  })
  const people = createPeople({
    db,
    clock,
    changes,
    onSuspended: (tx, { id }) => sessions.revokeAll(tx, id),
  })
  const codes = createEmailCodes({ db, clock, vault })
  const mail = createFakeMailer()
  const switches = { emailLogin: true, accessRequests: false }
  const emailLogin = createEmailLogin({
    db,
    log: silentLog,
    limits,
    devices,
    users,
    allowList,
    codes,
    sessions,
    mail,
    settings: {
      emailLogin: () => switches.emailLogin,
      accessRequests: () => switches.accessRequests,
    },
    baseUrl: 'https://roost.example.com',
  })
  const runKeys = createRunKeys({
    ...world.runs,
    users,
    isKeyWorking: (keyId) => keys.isWorking(keyId),
    mac: (text) => vault.mac(text, 'run-key'),
  })
  const later: Pick<KeysDeps, 'onConnectorKeyEnded'> = { onConnectorKeyEnded: async () => {} }
  const keys: Keys = createKeys({
    db,
    clock,
    changes,
    users,
    limits,
    runKeys,
    onConnectorKeyEnded: (tx, key) => later.onConnectorKeyEnded(tx, key),
    agentNames: async (ids) => new Map([...agents].filter(([id]) => ids.includes(id))),
  })
  const identify = createIdentify({
    verifySession: sessions.verifySession,
    verifyKey: keys.verifyKey,
    isRunKey: runKeys.isGenuine,
  })
  return {
    ...world,
    /** Replaced by the areas that use this one. */
    later,
    db,
    changes,
    signingKeys,
    limits,
    devices,
    users,
    people,
    allowList,
    secondFactor,
    codes,
    mail,
    switches,
    emailLogin,
    sessions,
    endedHooks,
    keys,
    identify,
    /** Creates an account like a first sign-in by e-mail. */
    async addUser(role: Role = 'user', username = `${newId().toLowerCase()}@example.com`): Promise<Account> {
      return db.atomically(async (tx) => {
        const account: Account = {
          id: newId(),
          username,
          email: username,
          name: null,
          picture: null,
          role,
          created_at: timestamp(clock.now()),
          last_login_at: null,
          suspended_at: null,
          mfa_enrolled_at: null,
        }
        await userStore(tx).insert({ ...account, password_hash: null })
        await userStore(tx).claimLogin(username, account.id)
        return account
      })
    },
    /** Changes an account as another part of the platform would. */
    async changeUser(id: string, values: Partial<Pick<Account, 'role' | 'suspended_at'>>): Promise<void> {
      await db
        .withTables<{ users: Account }>()
        .updateTable('users')
        .set(values)
        .where('id', '=', id)
        .execute()
      changes.announce({ user_id: id })
    },
    async removeUser(id: string): Promise<void> {
      await db.withTables<{ users: Account }>().deleteFrom('users').where('id', '=', id).execute()
      changes.announce({ user_id: id })
    },
    [Symbol.asyncDispose]: async () => {
      await emailLogin.settled()
      await keys.close()
      await signingKeys.close()
      await changes.close()
    },
  }
}

/** Returns an identity that also closes its database. */
export function closing(identity: Identity, db: AsyncDisposable): Identity {
  return {
    ...identity,
    [Symbol.asyncDispose]: async () => {
      await identity[Symbol.asyncDispose]()
      await db[Symbol.asyncDispose]()
    },
  }
}
