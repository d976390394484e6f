import type { CreateKey, McpKey, NewKey } from '@roost/contracts/identity/keys'
import type { Loop } from '../../background/loops.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Executor, Tx } from '../../ports/database/port.ts'
import type { IdentityChanges, KeyCaller, SignedIn } from '../access/index.ts'
import type { Account, Users } from '../users/index.ts'
import { hashOfKey, isKeyText, newKeyText, visiblePrefix } from './key-text.ts'
import { isActive, requestableScope } from './rules.ts'
import { keyStore } from './store.ts'
import type { KeyRow } from './tables.ts'
import { createKeyUsage } from './usage.ts'
import { createVerifyKey, keyCaller } from './verify.ts'

export type KeysDeps = {
  db: Db
  clock: Clock
  changes: IdentityChanges
  users: Pick<Users, 'find' | 'findAll'>
  limits: Pick<RateLimits, 'use'>
  /** The present names of agents by their ids; agents that are gone are missing. */
  agentNames(ids: string[]): Promise<ReadonlyMap<string, string>>
}

export type Keys = {
  create(caller: SignedIn, wanted: CreateKey): Promise<NewKey>
  /** Own keys, newest first; `all` is for admins. */
  list(caller: SignedIn, options: { all: boolean }): Promise<McpKey[]>
  /** A key of somebody else answers as unknown, except to an admin. */
  get(caller: SignedIn, id: string): Promise<McpKey>
  revoke(caller: SignedIn, id: string): Promise<void>
  remove(caller: SignedIn, id: string): Promise<void>
  /** `key` is null when the person has a `user` key already. */
  ensureDefault(caller: SignedIn): Promise<{ id: string; name: string; key: string | null }>
  /** The caller that a presented key stands for, or null. Served from memory; a change shows at once. */
  verifyKey(presented: string): Promise<KeyCaller | null>
  /** Who the key stands for by now; null when it has stopped. For what outlives the request that opened it. */
  callerOf(keyId: string): Promise<KeyCaller | null>
  agentNameOf(caller: KeyCaller): Promise<string | null>
  /** Mints the key of an agent; the text is not kept here and cannot be asked for again. */
  mintAgentKey(
    tx: Tx,
    wanted: { agentId: string; ownerId: string; name: string; scope?: 'agent' | 'system' },
  ): Promise<{ id: string; key: string }>
  /** A key bound to one agent for the consumption of it; shown once. */
  mintConnectorKey(
    tx: Tx,
    wanted: { agentId: string; ownerId: string; name: string },
  ): Promise<{ id: string; key: string; key_prefix: string }>
  /** The connector keys of an agent that work, newest first. */
  connectorKeys(agentId: string): Promise<KeyFacts[]>
  /** Null: there is none (any more). */
  facts(keyId: string): Promise<KeyFacts | null>
  /** What a key that was found somewhere is; null for one that nobody minted or that was deleted. */
  recognise(presented: string): Promise<KeyFacts | null>
  /** Stops the agent's keys; `exceptId` goes on. They stay listed. */
  revokeAgentKeys(tx: Tx, agentId: string, exceptId?: string): Promise<void>
  /** Deletes every key bound to the agent: `agent` and `connector`. */
  deleteAgentKeys(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  /** Writes the counters that are still in memory. */
  close(): Promise<void>
}

/** What may be told of a key: never its text. */
export type KeyFacts = Pick<
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

  const bound = async (
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
    if (!minted) throw new Error('The key of an agent was taken for a default key.')
    return minted
  }

  const shown = async (rows: KeyRow[]): Promise<McpKey[]> => {
    const owners = new Map(
      (await users.findAll([...new Set(rows.map((row) => row.user_id))])).map((u) => [u.id, u]),
    )
    const names = await deps.agentNames([...new Set(rows.flatMap((row) => row.agent_id ?? []))])
    return rows.map((row) => keyView(row, owners.get(row.user_id), names, clock.now()))
  }

  const ownOrAdmins = async (caller: SignedIn, id: string): Promise<KeyRow> => {
    const row = await keyStore(db).byId(id)
    if (!row || (row.user_id !== caller.user.id && caller.user.role !== 'admin'))
      throw new Fault('key_not_found')
    return row
  }

  return {
    async create(caller, wanted) {
      const scope = requestableScope(caller, wanted, clock.now())
      await limits.use(rateRules.keyCreation, caller.user.id)
      const minted = await insert(db, {
        user_id: caller.user.id,
        agent_id: null,
        name: wanted.name,
        description: wanted.description ?? null,
        scope,
        expires_at: wanted.expires_at ?? null,
        default_of: null,
      })
      if (!minted) throw new Error('A key that is nobody’s default was taken for one.')
      const { row, key } = minted
      return { ...publicFields(row, clock.now()), username: caller.user.username, key, api_key: key }
    },

    async list(caller, { all }) {
      if (all && caller.user.role !== 'admin') throw new Fault('admin_required')
      await usage.flush()
      return shown(await keyStore(db).list(all ? null : caller.user.id))
    },

    async get(caller, id) {
      await usage.flush()
      const [view] = await shown([await ownOrAdmins(caller, id)])
      if (!view) throw new Fault('key_not_found')
      return view
    },

    async revoke(caller, id) {
      const row = await ownOrAdmins(caller, id)
      await keyStore(db).revoke(row.id, timestamp(clock.now()))
      changes.announce({ key_id: row.id })
    },

    async remove(caller, id) {
      const row = await ownOrAdmins(caller, id)
      if (!(await keyStore(db).remove(row.id))) throw new Fault('key_not_found')
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
      const first = await keyStore(db).anyUserKey(user_id)
      // Made and ended by others between the two looks.
      if (!first) throw new Fault('conflict', 'The default key was changed meanwhile: try again.')
      return { id: first.id, name: first.name, key: null }
    },

    verifyKey: createVerifyKey({ db, clock, changes, users, record: usage.record }),

    callerOf: async (id) => keyCaller(await keyStore(db).byId(id), users, clock.now()),

    async agentNameOf({ key }) {
      if (key.agent_id === null) return null
      return (await deps.agentNames([key.agent_id])).get(key.agent_id) ?? null
    },

    async mintAgentKey(tx, wanted) {
      const { row, key } = await bound(tx, wanted.scope ?? 'agent', wanted)
      return { id: row.id, key }
    },

    async mintConnectorKey(tx, wanted) {
      const { row, key } = await bound(tx, 'connector', wanted)
      return { id: row.id, key, key_prefix: row.key_prefix }
    },

    async connectorKeys(agentId) {
      await usage.flush()
      return (await keyStore(db).connectorsOf(agentId)).map(factsOf)
    },

    async facts(keyId) {
      await usage.flush()
      const row = await keyStore(db).byId(keyId)
      return row && factsOf(row)
    },

    async recognise(presented) {
      const row = isKeyText(presented) ? await keyStore(db).byHash(hashOfKey(presented)) : null
      return row && factsOf(row)
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

function factsOf(row: KeyRow): KeyFacts {
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
