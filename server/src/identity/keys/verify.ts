import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type IdentityChanges, isTouched, type KeyCaller } from '../access/index.ts'
import { isRunKeyText, type RunKeys } from '../run-keys/index.ts'
import { callerUser, type Users } from '../users/index.ts'
import { hashOfKey, isKeyText } from './key-text.ts'
import { isActive, works } from './rules.ts'
import { type KeyRow, keyStore } from './store.ts'

/** Returns the caller of a key, or null if it does not work now. */
export async function keyCaller(
  row: KeyRow | null,
  users: Pick<Users, 'find'>,
  now: Date,
): Promise<KeyCaller | null> {
  if (!row) return null
  const owner = await users.find(row.user_id)
  if (!owner || !works({ ...row, owner }, now)) return null
  const { id, name, scope, agent_id } = row
  return { kind: 'key', user: callerUser(owner), key: { id, name, scope, agent_id } }
}

type CachedKey = { caller: KeyCaller; revoked_at: null; expires_at: string | null }

/** Resolves keys to callers. Runs for every request with a key, so results are cached until they change. */
export function createVerifyKey(deps: {
  db: Db
  clock: Clock
  changes: Pick<IdentityChanges, 'on'>
  users: Pick<Users, 'find'>
  runKeys: Pick<RunKeys, 'verify'>
  /** Called for each use of a working key. */
  record(keyId: string): void
}): (presented: string) => Promise<KeyCaller | null> {
  const { db, clock, changes, users, runKeys, record } = deps
  const cache = createCache<CachedKey>({
    clock,
    maxAgeSeconds: 5,
    maxEntries: 10_000,
    async load(text) {
      const row = await keyStore(db).byHash(hashOfKey(text))
      const caller = await keyCaller(row, users, clock.now())
      return row && caller ? { caller, revoked_at: null, expires_at: row.expires_at } : null
    },
  })
  changes.on((change) => {
    if (change === 'all') cache.clear()
    else if ('user_id' in change) cache.forget(({ caller }) => caller.user.id === change.user_id)
    else if ('key_id' in change) cache.forget(({ caller }) => caller.key.id === change.key_id)
    else if ('agent_id' in change) cache.forget(({ caller }) => caller.key.agent_id === change.agent_id)
  })
  return async (presented) => {
    if (isRunKeyText(presented)) return runKeys.verify(presented)
    if (!isKeyText(presented)) return null
    const cached = await cache.get(presented)
    if (!cached || !isActive(cached, clock.now())) return null
    record(cached.caller.key.id)
    return cached.caller
  }
}

/** Whether a key works, by its id: asked with every request of a run of the agent that the key belongs to. */
export function createWorkingKeys(deps: {
  db: Db
  clock: Clock
  changes: Pick<IdentityChanges, 'on'>
  users: Pick<Users, 'find'>
}): (keyId: string) => Promise<boolean> {
  const { db, clock, changes, users } = deps
  const cache = createCache<KeyCaller>({
    clock,
    maxAgeSeconds: 5,
    maxEntries: 10_000,
    load: async (id) => keyCaller(await keyStore(db).byId(id), users, clock.now()),
  })
  changes.on((change) => {
    if (change === 'all') cache.clear()
    else cache.forget((caller) => isTouched(caller, change))
  })
  return async (keyId) => (await cache.get(keyId)) !== null
}
