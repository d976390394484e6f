import type { CreateKey, McpKey, NewKey } from '@roost/contracts/identity/keys'
import type { Loop } from '../../background/loops.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import type { IdentityChanges, KeyCaller, SignedIn } from '../access/index.ts'
import type { RunKeys } from '../run-keys/index.ts'
import type { Account, Users } from '../users/index.ts'
import { hashOfKey, isKeyText, newKeyText, visiblePrefix } from './key-text.ts'
import { isActive, requestableScope } from './rules.ts'
import { type KeyRow, keyStore } from './store.ts'
import { createKeyUsage } from './usage.ts'
import { createVerifyKey, createWorkingKeys, keyCaller } from './verify.ts'

export type KeysDeps = {
  db: Db
  clock: Clock
  changes: IdentityChanges
  users: Pick<Users, 'find' | 'findAll'>
  limits: Pick<RateLimits, 'use'>
  runKeys: Pick<RunKeys, 'verify' | 'callerOf'>
  /** Returns the current names of agents by id, without deleted agents. */
  agentNames(ids: string[]): Promise<ReadonlyMap<string, string>>
  /** Runs in the transaction that revokes or deletes a working connector key; ends what the key has started. */
  onConnectorKeyEnded(tx: Tx, key: { id: string; agentId: string }): Promise<void>
}

export type Keys = {
  create(caller: SignedIn, request: CreateKey): Promise<NewKey>
  /** Lists the caller's keys, newest first. `all` requires an admin. */
  list(caller: SignedIn, options: { all: boolean }): Promise<McpKey[]>
  /** Another person's key is reported as unknown, except to an admin. */
  get(caller: SignedIn, id: string): Promise<McpKey>
  revoke(caller: SignedIn, id: string): Promise<void>
  remove(caller: SignedIn, id: string): Promise<void>
  /** `key` is null if the person has a `user` key already. */
  ensureDefault(caller: SignedIn): Promise<{ id: string; name: string; key: string | null }>
  /** Returns the caller of a presented key, or null. Cached; a change takes effect immediately. */
  verifyKey(presented: string): Promise<KeyCaller | null>
  /** Whether a key works, by its id. Cached; a change takes effect immediately. */
  isWorking(keyId: string): Promise<boolean>
  /** Returns the current caller of a key or of a run's `ref`, or null if it stopped. For work that outlives its request. */
  callerOf(keyId: string): Promise<KeyCaller | null>
  agentNameOf(caller: KeyCaller): Promise<string | null>
  /** Mints the key of an agent. Its text is not stored and cannot be read again. */
  mintAgentKey(
    tx: Tx,
    request: { agentId: string; ownerId: string; name: string; scope?: 'agent' | 'system' },
  ): Promise<{ id: string; key: string }>
  /** Mints a key that may only use one agent; its text is shown once. */
  mintConnectorKey(
    tx: Tx,
    request: { agentId: string; ownerId: string; name: string },
  ): Promise<{ id: string; key: string; key_prefix: string }>
  /** Returns the connector keys of an agent that are not revoked, newest first. */
  connectorKeys(agentId: string): Promise<KeySummary[]>
  /** Returns null for an unknown or deleted key. */
  summary(keyId: string): Promise<KeySummary | null>
  /** Looks up a key by its text; null for an unknown or deleted one. */
  findByText(presented: string): Promise<KeySummary | null>
  /** Revokes the agent's keys except `exceptId`. They stay listed. */
  revokeAgentKeys(tx: Tx, agentId: string, exceptId?: string): Promise<void>
  /** Deletes every key bound to the agent: `agent`, `system` and `connector`. */
  deleteAgentKeys(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  /** Writes the pending usage counters. */
  close(): Promise<void>
}

/** A key without its text and hash. */
export type KeySummary = Pick<
  KeyRow,
  'id' | 'scope' | 'agent_id' | 'key_prefix' | 'created_at' | 'last_used_at' | 'revoked_at' | 'usage_count'
>

const defaultName = 'Default'

export function createKeys(deps: KeysDeps): Keys {
  const { db, clock, changes, users, limits } = deps
  const usage = createKeyUsage(deps)

  const insert = async (executor: Executor, values: Minted): Promise<{ row: KeyRow; key: string } | null> => {
    const key = newKeyText()
    const row: KeyRow = {
      ...values,
      id: newId(),
      key_hash: hashOfKey(key),
      key_prefix: visiblePrefix(key),
      created_at: timestamp(clock.now()),
      revoked_at: null,
      last_used_at: null,
      usage_count: 0,
    }
    return (await keyStore(executor).insert(row)) ? { row, key } : null
  }

  const insertBound = async (
    tx: Tx,
    scope: 'agent' | 'system' | 'connector',
    { agentId, ownerId, name }: { agentId: string; ownerId: string; name: string },
  ) => {
    const minted = await insert(tx, {
      user_id: ownerId,
      agent_id: agentId,
      name,
      description: null,
      scope,
      expires_at: null,
      default_of: null,
    })
    if (!minted) throw new Error('The insert of an agent key hit the constraint of default keys.')
    return minted
  }

  const views = async (rows: KeyRow[]): Promise<McpKey[]> => {
    const owners = new Map(
      (await users.findAll([...new Set(rows.map((row) => row.user_id))])).map((u) => [u.id, u]),
    )
    const names = await deps.agentNames([...new Set(rows.flatMap((row) => row.agent_id ?? []))])
    return rows.map((row) => keyView(row, owners.get(row.user_id), names, clock.now()))
  }

  const visibleKey = async (caller: SignedIn, id: string): Promise<KeyRow> => {
    const row = await keyStore(db).byId(id)
    if (!row || (row.user_id !== caller.user.id && caller.user.role !== 'admin'))
      throw new Fault('key_not_found')
    return row
  }

  /** Runs after the change, so that a request with the key is either ended here or refused. */
  const endConnector = async (tx: Tx, { id, scope, agent_id, revoked_at }: KeyRow): Promise<void> => {
    if (scope !== 'connector' || agent_id === null || revoked_at !== null) return
    await deps.onConnectorKeyEnded(tx, { id, agentId: agent_id })
  }

  return {
    async create(caller, request) {
      const scope = requestableScope(caller, request, clock.now())
      await limits.use(rateRules.keyCreation, caller.user.id)
      const minted = await insert(db, {
        user_id: caller.user.id,
        agent_id: null,
        name: request.name,
        description: request.description ?? null,
        scope,
        expires_at: request.expires_at ?? null,
        default_of: null,
      })
      if (!minted) throw new Error('The insert of a key hit the constraint of default keys.')
      const { row, key } = minted
      return { ...publicFields(row, clock.now()), username: caller.user.username, key, api_key: key }
    },

    async list(caller, { all }) {
      if (all && caller.user.role !== 'admin') throw new Fault('admin_required')
      await usage.flush()
      return views(await keyStore(db).list(all ? null : caller.user.id))
    },

    async get(caller, id) {
      await usage.flush()
      const [view] = await views([await visibleKey(caller, id)])
      if (!view) throw new Fault('key_not_found')
      return view
    },

    async revoke(caller, id) {
      const row = await visibleKey(caller, id)
      await db.atomically(async (tx) => {
        await keyStore(tx).revoke(row.id, timestamp(clock.now()))
        await endConnector(tx, row)
      })
      changes.announce({ key_id: row.id })
    },

    async remove(caller, id) {
      const row = await visibleKey(caller, id)
      await db.atomically(async (tx) => {
        if (!(await keyStore(tx).remove(row.id))) throw new Fault('key_not_found')
        await endConnector(tx, row)
      })
      changes.announce({ key_id: row.id })
    },

    async ensureDefault(caller) {
      const user_id = caller.user.id
      const existing = await keyStore(db).anyUserKey(user_id)
      if (existing) return { id: existing.id, name: existing.name, key: null }
      await limits.use(rateRules.keyCreation, user_id)
      const minted = await insert(db, {
        user_id,
        agent_id: null,
        name: defaultName,
        description: null,
        scope: 'user',
        expires_at: null,
        default_of: user_id,
      })
      if (minted) return { id: minted.row.id, name: defaultName, key: minted.key }
      const winner = await keyStore(db).anyUserKey(user_id)
      // Another request created and revoked it between the two reads.
      if (!winner) throw new Fault('conflict', 'The default key was changed by another request. Try again.')
      return { id: winner.id, name: winner.name, key: null }
    },

    verifyKey: createVerifyKey({ ...deps, record: usage.record }),

    isWorking: createWorkingKeys(deps),

    callerOf: async (id) =>
      (await deps.runKeys.callerOf(id)) ?? keyCaller(await keyStore(db).byId(id), users, clock.now()),

    async agentNameOf({ key }) {
      if (key.agent_id === null) return null
      return (await deps.agentNames([key.agent_id])).get(key.agent_id) ?? null
    },

    async mintAgentKey(tx, request) {
      const { row, key } = await insertBound(tx, request.scope ?? 'agent', request)
      return { id: row.id, key }
    },

    async mintConnectorKey(tx, request) {
      const { row, key } = await insertBound(tx, 'connector', request)
      return { id: row.id, key, key_prefix: row.key_prefix }
    },

    async connectorKeys(agentId) {
      await usage.flush()
      return (await keyStore(db).connectorsOf(agentId)).map(summaryOf)
    },

    async summary(keyId) {
      await usage.flush()
      const row = await keyStore(db).byId(keyId)
      return row && summaryOf(row)
    },

    async findByText(presented) {
      const row = isKeyText(presented) ? await keyStore(db).byHash(hashOfKey(presented)) : null
      return row && summaryOf(row)
    },

    async revokeAgentKeys(tx, agentId, exceptId) {
      await keyStore(tx).revokeOfAgent(agentId, timestamp(clock.now()), exceptId ?? null)
      tx.onCommitted(() => changes.announce({ agent_id: agentId }))
    },

    async deleteAgentKeys(tx, agentId) {
      await keyStore(tx).removeOfAgent(agentId)
      tx.onCommitted(() => changes.announce({ agent_id: agentId }))
    },

    loops: [{ name: 'key-usage', everySeconds: 10, everywhere: true, run: () => usage.flush() }],
    close: () => usage.flush(),
  }
}

function summaryOf(row: KeyRow): KeySummary {
  const { id, scope, agent_id, key_prefix, created_at, last_used_at, revoked_at, usage_count } = row
  return { id, scope, agent_id, key_prefix, created_at, last_used_at, revoked_at, usage_count }
}

type Minted = Pick<
  KeyRow,
  'user_id' | 'agent_id' | 'name' | 'description' | 'scope' | 'expires_at' | 'default_of'
>

function publicFields(row: KeyRow, now: Date) {
  const { id, name, description, scope, key_prefix, created_at, expires_at, usage_count, user_id } = row
  return {
    id,
    name,
    description,
    scope,
    key_prefix,
    created_at,
    expires_at,
    is_active: isActive(row, now),
    usage_count,
    user_id,
  }
}

function keyView(
  row: KeyRow,
  owner: Account | undefined,
  names: ReadonlyMap<string, string>,
  now: Date,
): McpKey {
  return {
    ...publicFields(row, now),
    username: owner?.username ?? '',
    user_email: owner?.email ?? null,
    last_used_at: row.last_used_at,
    revoked_at: row.revoked_at,
    agent_name: row.agent_id === null ? null : (names.get(row.agent_id) ?? null),
  }
}
