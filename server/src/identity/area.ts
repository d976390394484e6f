import type { Loop } from '../background/loops.ts'
import type { RateLimits } from '../foundation/rate-limits/index.ts'
import type { Settings } from '../foundation/settings/index.ts'
import type { Vault } from '../foundation/vault/index.ts'
import type { Route } from '../http/route.ts'
import type { Clock } from '../kit/clock.ts'
import type { Db } from '../ports/database/port.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import type { Log } from '../ports/log.ts'
import type { Mailer } from '../ports/mail/port.ts'
import { createIdentify, type Identify, type IdentityChanges, openIdentityChanges } from './access/index.ts'
import { createDevices, type Devices } from './devices/index.ts'
import { createEmailCodes, createEmailLogin, type EmailCodes, emailLoginRoutes } from './email-login/index.ts'
import { createGitTokens, type GitTokens, gitTokenRoutes } from './git-tokens/index.ts'
import { createKeys, type Keys, type KeysDeps, keyRoutes } from './keys/index.ts'
import { mcpSessionRoutes } from './mcp-sessions/index.ts'
import { createPreferences, preferenceRoutes } from './preferences/index.ts'
import { createRunKeys, type RunKeys, type RunKeysDeps } from './run-keys/index.ts'
import { createSecondFactor, factorRoutes } from './second-factor/index.ts'
import {
  createSessions,
  openSigningKeys,
  type Sessions,
  type SessionsDeps,
  sessionRoutes,
} from './sessions/index.ts'
import {
  type AllowList,
  addressesOf,
  allowListRoutes,
  createAllowList,
  createPeople,
  createUsers,
  type OnSuspended,
  peopleRoutes,
  type Users,
  userRoutes,
} from './users/index.ts'

export type IdentityAreaDeps = Pick<KeysDeps, 'agentNames' | 'onConnectorKeyEnded'> & {
  db: Db
  clock: Clock
  log: Log
  ephemeral: Ephemeral
  vault: Vault
  limits: RateLimits
  settings: Pick<Settings, 'value' | 'providerKey' | 'secondFactorRoles' | 'putSecondFactorRoles'>
  /** What run keys need from the areas that follow. */
  runs: Pick<RunKeysDeps, 'running' | 'agent' | 'principalFor'>
  /** Null: sign-in by e-mail is off. */
  mail: Mailer | null
  /** The public address of the platform. */
  baseUrl: string
  /** Answers are scripted. */
  isDemo: boolean
}

/** The parts of this area that later areas use. */
export type IdentityArea = {
  changes: IdentityChanges
  users: Users
  allowList: AllowList
  sessions: Sessions
  keys: Keys
  runKeys: RunKeys
  codes: EmailCodes
  devices: Devices
  gitTokens: GitTokens
  identify: Identify
  /** Registers a hook of suspensions. Call it while the platform is composed. */
  onSuspended(hook: OnSuspended): void
  /** Registers a hook of sign-outs and other ends of sessions. Call it while the platform is composed. */
  onSessionsEnded(hook: SessionsDeps['onEnded']): void
  routes: Route[]
  internalRoutes: Route[]
  loops: Loop[]
  close(): Promise<void>
}

/** How long a stop waits for outgoing mail. A user without a code can request another. */
const mailGraceMs = 3_000

export async function openIdentityArea(deps: IdentityAreaDeps): Promise<IdentityArea> {
  const { db, clock, log, ephemeral, vault, limits, settings, mail, baseUrl } = deps
  const changes = await openIdentityChanges({
    ephemeral,
    onLost: (error) => log.warn({ err: error }, 'an identity change did not reach other processes'),
  })
  const users = createUsers({ db, clock, changes })
  const allowList = createAllowList({ db, clock })
  const devices = createDevices({ vault, clock, baseUrl })
  const policy = { roles: settings.secondFactorRoles, set: settings.putSecondFactorRoles }
  const secondFactor = createSecondFactor({ db, clock, vault, limits, devices, users, policy })
  const endedHooks: SessionsDeps['onEnded'][] = []
  const signingKeys = await openSigningKeys({ ephemeral, vault, clock, log })
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
  const codes = createEmailCodes({ db, clock, vault })
  const emailLogin = createEmailLogin({
    db,
    log,
    limits,
    devices,
    users,
    allowList,
    codes,
    sessions,
    mail,
    settings: {
      emailLogin: () => settings.value('email_auth_enabled'),
      accessRequests: () => settings.value('public_access_requests_enabled'),
    },
    baseUrl,
  })
  const suspensionHooks: OnSuspended[] = [
    (tx, { id }) => sessions.revokeAll(tx, id),
    (tx, { id }) => secondFactor.endChallenges(tx, id),
    async (tx, account) => {
      for (const email of addressesOf(account)) await codes.voidAll(tx, email)
    },
  ]
  const people = createPeople({
    db,
    clock,
    changes,
    onSuspended: async (tx, account) => {
      for (const hook of suspensionHooks) await hook(tx, account)
    },
  })
  const runKeys = createRunKeys({
    ...deps.runs,
    users,
    isKeyWorking: (keyId) => keys.isWorking(keyId),
    mac: (text) => vault.mac(text, 'run-key'),
    earlierMacs: (text) => vault.earlierTurnMacs(text, 'run-key'),
  })
  const keys: Keys = createKeys({ ...deps, changes, users, runKeys })
  const hasGlobal = () => settings.providerKey('github') !== null
  const gitTokens = createGitTokens({ db, clock, vault, hasGlobal })

  return {
    changes,
    users,
    allowList,
    sessions,
    keys,
    runKeys,
    codes,
    devices,
    gitTokens,
    onSuspended: (hook) => void suspensionHooks.push(hook),
    onSessionsEnded: (hook) => void endedHooks.push(hook),
    identify: createIdentify({
      verifySession: sessions.verifySession,
      verifyKey: keys.verifyKey,
      isRunKey: runKeys.isGenuine,
    }),
    routes: [
      ...sessionRoutes(sessions, devices),
      ...emailLoginRoutes(emailLogin, sessions, devices),
      ...factorRoutes(secondFactor),
      ...userRoutes(users, deps.isDemo),
      ...peopleRoutes(people),
      ...allowListRoutes(allowList),
      ...preferenceRoutes(createPreferences({ db, clock })),
      ...gitTokenRoutes(gitTokens),
      ...keyRoutes(keys),
    ],
    internalRoutes: mcpSessionRoutes(ephemeral),
    loops: [...sessions.loops, ...secondFactor.loops, ...codes.loops, ...keys.loops],
    async close() {
      const waiting = new AbortController()
      await Promise.race([emailLogin.settled(), clock.wait(mailGraceMs, waiting.signal)])
      waiting.abort()
      await keys.close()
      await signingKeys.close()
      await changes.close()
    },
  }
}
