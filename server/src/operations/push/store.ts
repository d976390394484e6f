import type { SealedColumn, SealedText } from '../../foundation/vault/index.ts'
import type { Db, Executor } from '../../ports/database/port.ts'

export type PushKeyRow = { public_key: string; sealed_private_key: SealedText; created_at: string }

export type PushDeviceRow = {
  id: string
  user_id: string
  session_id: string
  name: string
  endpoint_hash: string
  /** JSON of a `PushTarget`. */
  sealed_target: SealedText
  created_at: string
  seen_at: string
  last_sent_at: string | null
  last_error: string | null
}

export type PushItemRow = { item_id: string; due_at: string; created_at: string }

export type PushMessageRow = {
  device_id: string
  item_id: string
  attempts: number
  due_at: string
  expires_at: string
}

const onlyId = 'push'

export const contexts = {
  privateKey: 'push:private-key',
  target: (endpointHash: string) => `push:target:${endpointHash}`,
}

/** The key pair of the installation. */
export function pushKeyStore(executor: Executor) {
  const db = executor.withTables<{ push_keys: PushKeyRow & { id: string } }>()
  return {
    async read(): Promise<PushKeyRow | null> {
      const query = db.selectFrom('push_keys').selectAll().where('id', '=', onlyId)
      return (await query.executeTakeFirst()) ?? null
    },

    /** Keeps the pair of a process that was first. */
    async insertOnce(row: PushKeyRow): Promise<void> {
      await db
        .insertInto('push_keys')
        .values({ id: onlyId, ...row })
        .onConflict((c) => c.column('id').doNothing())
        .execute()
    },
  }
}

type DeviceTables = { push_devices: PushDeviceRow; push_messages: PushMessageRow }

export function pushDeviceStore(executor: Executor) {
  const db = executor.withTables<DeviceTables>()

  const removeAll = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return
    await db
      .deleteFrom('push_messages')
      .where('device_id', 'in', [...ids])
      .execute()
    await db
      .deleteFrom('push_devices')
      .where('id', 'in', [...ids])
      .execute()
  }
  const ofPerson = (userId: string) =>
    db.selectFrom('push_devices').select('id').where('user_id', '=', userId)
  const idsOf = async (query: { execute(): Promise<{ id: string }[]> }) =>
    (await query.execute()).map(({ id }) => id)

  return {
    async isEmpty(): Promise<boolean> {
      return (await db.selectFrom('push_devices').select('id').limit(1).executeTakeFirst()) === undefined
    },

    /** The accounts with devices. */
    async userIds(): Promise<string[]> {
      const rows = await db.selectFrom('push_devices').select('user_id').distinct().execute()
      return rows.map(({ user_id }) => user_id)
    },

    /** Most recently opened first. */
    async ofUser(userId: string): Promise<PushDeviceRow[]> {
      return db
        .selectFrom('push_devices')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('seen_at', 'desc')
        .orderBy('id')
        .execute()
    },

    async byId(id: string): Promise<PushDeviceRow | null> {
      return (await db.selectFrom('push_devices').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
    },

    async byEndpoint(endpointHash: string): Promise<PushDeviceRow | null> {
      const query = db.selectFrom('push_devices').selectAll().where('endpoint_hash', '=', endpointHash)
      return (await query.executeTakeFirst()) ?? null
    },

    /** Replaces the row with the same endpoint, which keeps its id. */
    async put(row: PushDeviceRow): Promise<void> {
      const { user_id, session_id, name, sealed_target, seen_at } = row
      await db
        .insertInto('push_devices')
        .values(row)
        .onConflict((c) =>
          c.column('endpoint_hash').doUpdateSet({ user_id, session_id, name, sealed_target, seen_at }),
        )
        .execute()
    },

    async dropMessages(deviceId: string): Promise<void> {
      await db.deleteFrom('push_messages').where('device_id', '=', deviceId).execute()
    },

    async note(id: string, result: Pick<PushDeviceRow, 'last_error'> & { last_sent_at?: string }) {
      await db.updateTable('push_devices').set(result).where('id', '=', id).execute()
    },

    removeAll,
    removeOfUser: async (userId: string) => removeAll(await idsOf(ofPerson(userId))),
    removeOfSession: async (userId: string, sessionId: string) =>
      removeAll(await idsOf(ofPerson(userId).where('session_id', '=', sessionId))),
    removeOfOtherSessions: async (userId: string, sessionId: string) =>
      removeAll(await idsOf(ofPerson(userId).where('session_id', '<>', sessionId))),

    /** Ids of devices that were not opened since `before`. */
    async unseenSince(before: string): Promise<string[]> {
      return idsOf(db.selectFrom('push_devices').select('id').where('seen_at', '<', before).limit(500))
    },
  }
}

/** A database of an older version, before its migration, has no such table. */
export async function hasPushDevices(db: Db): Promise<boolean> {
  const tables = await db.withTables().introspection.getTables()
  return tables.some(({ name }) => name === 'push_devices')
}

/** Items and messages that wait. A process claims one by moving its due time forward. */
export function pushQueueStore(executor: Executor) {
  const db = executor.withTables<{ push_items: PushItemRow; push_messages: PushMessageRow }>()
  const message = ({ device_id, item_id }: PushMessageRow) =>
    db.deleteFrom('push_messages').where('device_id', '=', device_id).where('item_id', '=', item_id)

  return {
    async addItem(row: PushItemRow): Promise<void> {
      await db.insertInto('push_items').values(row).execute()
    },

    async dueItems(now: string, limit: number): Promise<PushItemRow[]> {
      return db
        .selectFrom('push_items')
        .selectAll()
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(limit)
        .execute()
    },

    async claimItem({ item_id, due_at }: PushItemRow, until: string): Promise<boolean> {
      const result = await db
        .updateTable('push_items')
        .set({ due_at: until })
        .where('item_id', '=', item_id)
        .where('due_at', '=', due_at)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** False if another process has done it. */
    async removeItem(itemId: string): Promise<boolean> {
      const result = await db.deleteFrom('push_items').where('item_id', '=', itemId).executeTakeFirst()
      return Number(result.numDeletedRows) === 1
    },

    async addMessages(rows: readonly PushMessageRow[]): Promise<void> {
      if (rows.length === 0) return
      await db
        .insertInto('push_messages')
        .values([...rows])
        .onConflict((c) => c.columns(['device_id', 'item_id']).doNothing())
        .execute()
    },

    async dueMessages(now: string, limit: number): Promise<PushMessageRow[]> {
      return db
        .selectFrom('push_messages')
        .selectAll()
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(limit)
        .execute()
    },

    async claimMessage(row: PushMessageRow, until: string): Promise<boolean> {
      const result = await db
        .updateTable('push_messages')
        .set({ due_at: until, attempts: row.attempts + 1 })
        .where('device_id', '=', row.device_id)
        .where('item_id', '=', row.item_id)
        .where('due_at', '=', row.due_at)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async delay({ device_id, item_id }: PushMessageRow, due_at: string): Promise<void> {
      await db
        .updateTable('push_messages')
        .set({ due_at })
        .where('device_id', '=', device_id)
        .where('item_id', '=', item_id)
        .execute()
    },

    async removeMessage(row: PushMessageRow): Promise<void> {
      await message(row).execute()
    },
  }
}

export const sealedColumns: SealedColumn[] = [
  { table: 'push_keys', column: 'sealed_private_key', key: ['id'], context: () => contexts.privateKey },
  {
    table: 'push_devices',
    column: 'sealed_target',
    key: ['id'],
    reads: ['endpoint_hash'],
    context: ({ endpoint_hash = '' }) => contexts.target(endpoint_hash),
  },
]
