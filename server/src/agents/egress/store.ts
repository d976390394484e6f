import type { EgressEntry } from '@roost/contracts/agents/egress'
import { newId } from '../../kit/ids.ts'
import type { Executor } from '../../ports/database/port.ts'
import type { AuthorityTable, CredentialsTable, EgressTables, LogTable, RulesTable } from './tables.ts'

export type Attempt = Pick<LogTable, 'agent_id' | 'host' | 'port' | 'decision' | 'reason'> & {
  count: number
  at: string
}

export function authorityStore(executor: Executor) {
  const db = executor.withTables<EgressTables>()
  return {
    /** Sorted by id, newest last. */
    all: (): Promise<AuthorityTable[]> =>
      db.selectFrom('egress_authority').selectAll().orderBy('id').execute(),
    async remove(ids: readonly number[]): Promise<void> {
      if (ids.length > 0)
        await db
          .deleteFrom('egress_authority')
          .where('id', 'in', [...ids])
          .execute()
    },
    /** Does nothing if the id exists. */
    async insert(row: AuthorityTable): Promise<void> {
      await db
        .insertInto('egress_authority')
        .values(row)
        .onConflict((c) => c.column('id').doNothing())
        .execute()
    },
  }
}

/** SQL for rules and credentials of agents. */
export function egressStore(executor: Executor) {
  const db = executor.withTables<EgressTables>()
  return {
    rules: (agentId: string): Promise<RulesTable[]> =>
      db
        .selectFrom('egress_rules')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('host')
        .orderBy('port')
        .execute(),
    /** Returns false if such a rule exists. */
    async insertRule(row: RulesTable): Promise<boolean> {
      const done = await db
        .insertInto('egress_rules')
        .values(row)
        .onConflict((c) => c.columns(['agent_id', 'host', 'port']).doNothing())
        .executeTakeFirst()
      return (done.numInsertedOrUpdatedRows ?? 0n) > 0n
    },
    async removeRule(agentId: string, id: string): Promise<boolean> {
      const done = await db
        .deleteFrom('egress_rules')
        .where('agent_id', '=', agentId)
        .where('id', '=', id)
        .executeTakeFirst()
      return done.numDeletedRows > 0n
    },
    credentials: (agentId: string): Promise<CredentialsTable[]> =>
      db
        .selectFrom('egress_credentials')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('name')
        .execute(),
    async putCredential(row: CredentialsTable): Promise<void> {
      const { agent_id: _, name: __, ...changed } = row
      await db
        .insertInto('egress_credentials')
        .values(row)
        .onConflict((c) => c.columns(['agent_id', 'name']).doUpdateSet(changed))
        .execute()
    },
    async removeCredential(agentId: string, name: string): Promise<boolean> {
      const done = await db
        .deleteFrom('egress_credentials')
        .where('agent_id', '=', agentId)
        .where('name', '=', name)
        .executeTakeFirst()
      return done.numDeletedRows > 0n
    },
    async used(agentId: string, name: string, at: string): Promise<void> {
      await db
        .updateTable('egress_credentials')
        .set({ last_used_at: at })
        .where('agent_id', '=', agentId)
        .where('name', '=', name)
        .execute()
    },
  }
}

/** SQL for the log of destinations. */
export function egressLogStore(executor: Executor) {
  const db = executor.withTables<EgressTables>()
  return {
    /** One row per destination and outcome; repeated attempts increment its count. */
    async add(seen: Attempt): Promise<void> {
      const { at, count, ...destination } = seen
      await db
        .insertInto('egress_log')
        .values({ ...destination, id: newId(), count, first_at: at, last_at: at })
        .onConflict((c) =>
          c.columns(['agent_id', 'host', 'port', 'decision', 'reason']).doUpdateSet((eb) => ({
            count: eb('egress_log.count', '+', count),
            last_at: at,
          })),
        )
        .execute()
    },
    async list(
      agentId: string,
      page: { limit: number; offset: number; decision?: EgressEntry['decision'] | undefined },
    ) {
      const matching = db
        .selectFrom('egress_log')
        .where('agent_id', '=', agentId)
        .$if(page.decision !== undefined, (q) => q.where('decision', '=', page.decision ?? 'denied'))
      const rows = await matching
        .selectAll()
        .orderBy('last_at', 'desc')
        .orderBy('id')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
      const counted = await matching.select((eb) => eb.fn.countAll().as('total')).executeTakeFirst()
      return { rows, total: Number(counted?.total ?? 0) }
    },
    /** Number of denied attempts of destinations last denied since then; repeated attempts count in full. */
    async deniedSince(agentId: string, since: string): Promise<number> {
      const found = await db
        .selectFrom('egress_log')
        .select((eb) => eb.fn.sum('count').as('total'))
        .where('agent_id', '=', agentId)
        .where('decision', '=', 'denied')
        .where('last_at', '>=', since)
        .executeTakeFirst()
      return Number(found?.total ?? 0)
    },
    /** Keeps only the agent's latest `maxRows` rows. */
    async trim(agentId: string, maxRows: number): Promise<void> {
      const edge = await db
        .selectFrom('egress_log')
        .select('last_at')
        .where('agent_id', '=', agentId)
        .orderBy('last_at', 'desc')
        .offset(maxRows)
        .limit(1)
        .executeTakeFirst()
      if (!edge) return
      await db
        .deleteFrom('egress_log')
        .where('agent_id', '=', agentId)
        .where('last_at', '<=', edge.last_at)
        .execute()
    },
    async removeBefore(at: string): Promise<number> {
      const done = await db.deleteFrom('egress_log').where('last_at', '<', at).executeTakeFirst()
      return Number(done.numDeletedRows)
    },
  }
}
