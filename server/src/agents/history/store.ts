import { randomInt } from 'node:crypto'
import type { RunRecordOutcome, RunRecordReason } from '@roost/contracts/agents/history'
import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { HistorySettingsRow, HistoryTables, RecordRow, RunRecordsRow } from './tables.ts'

/** Position in an agent's records, newest first. */
export type RecordsPage = { before: number | null; limit: number }

export type OpenRun = Pick<RunRecordsRow, 'execution_id' | 'ended_at'>

export type Removable = { agentId?: string; before?: string }

/** Runs named in the record of a run; more are counted. */
export const maxNamedRuns = 20

/** Databases limit the parameters of a statement. */
const idsPerStatement = 1000

/** All SQL about records of workspaces. */
export function historyStore(executor: Executor) {
  const db = executor.withTables<HistoryTables>()

  function removable({ agentId, before }: Removable) {
    return db
      .selectFrom('workspace_records as r')
      .where('r.pinned', '=', 0)
      .where('r.attempt_set_id', 'is', null)
      .$if(agentId !== undefined, (q) => q.where('r.agent_id', '=', agentId ?? ''))
      .$if(before !== undefined, (q) => q.where('r.created_at', '<', before ?? ''))
      .where((e) =>
        e.exists(
          e
            .selectFrom('workspace_records as newer')
            .select('newer.id')
            .whereRef('newer.agent_id', '=', 'r.agent_id')
            .whereRef('newer.number', '>', 'r.number'),
        ),
      )
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('run_workspace_records as run')
              .select('run.execution_id')
              .whereRef('run.before_id', '=', 'r.id')
              .where('run.outcome', '=', 'recording'),
          ),
        ),
      )
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('workspace_restores as restore')
              .select('restore.id')
              .whereRef('restore.agent_id', '=', 'r.agent_id')
              .where('restore.ended_at', 'is', null)
              .where((or) =>
                or.or([
                  or('restore.record_id', '=', or.ref('r.id')),
                  or('restore.before_id', '=', or.ref('r.id')),
                ]),
              ),
          ),
        ),
      )
  }

  async function runOf(executionId: string): Promise<RunRecordsRow | null> {
    const query = db.selectFrom('run_workspace_records').selectAll()
    return (await query.where('execution_id', '=', executionId).executeTakeFirst()) ?? null
  }

  /**
   * Runs of an agent whose records are not complete: the running ones first, then the latest to end. An agent that is
   * busy without a pause has thousands.
   */
  function openRuns(agentId: string, limit?: number): Promise<OpenRun[]> {
    return db
      .selectFrom('run_workspace_records')
      .select(['execution_id', 'ended_at'])
      .where('agent_id', '=', agentId)
      .where('outcome', '=', 'recording')
      .orderBy('ended_at', (order) => order.desc().nullsFirst())
      .orderBy('execution_id')
      .$if(limit !== undefined, (q) => q.limit(limit ?? 0))
      .execute()
  }

  return {
    /** Stores a record with the agent's next number. Records of one agent are made one after another. */
    async insert(record: Omit<RecordRow, 'number'>): Promise<RecordRow> {
      const { last } = await db
        .selectFrom('workspace_records')
        .select((e) => e.fn.max('number').as('last'))
        .where('agent_id', '=', record.agent_id)
        .executeTakeFirstOrThrow()
      const row = { ...record, number: Math.max(0, Number(last ?? 0)) + 1 }
      await db.insertInto('workspace_records').values(row).execute()
      return row
    },

    /** Stores a record that is not one of the agent's own: lists do not show it, and scans do not start from it. */
    async insertAttempt(record: Omit<RecordRow, 'number'>): Promise<RecordRow> {
      const row = { ...record, number: -randomInt(1, 2 ** 31) }
      await db.insertInto('workspace_records').values(row).execute()
      return row
    },

    /** Keeps a record from retention until `releaseSet`. */
    async holdFor(setId: string, id: string): Promise<void> {
      await db.updateTable('workspace_records').set({ attempt_set_id: setId }).where('id', '=', id).execute()
    },

    /** Deletes the records of a set's attempts, and releases its base. Returns the deleted ones. */
    async releaseSet(setId: string): Promise<string[]> {
      const deleted = await db
        .deleteFrom('workspace_records')
        .where('attempt_set_id', '=', setId)
        .where('reason', '=', 'attempt')
        .returning('id')
        .execute()
      await db
        .updateTable('workspace_records')
        .set({ attempt_set_id: null })
        .where('attempt_set_id', '=', setId)
        .execute()
      return deleted.map(({ id }) => id)
    },

    /** A record of this agent; ids of other agents are unknown. */
    async record(agentId: string, id: string): Promise<RecordRow | null> {
      const query = db.selectFrom('workspace_records').selectAll()
      const found = await query.where('id', '=', id).where('agent_id', '=', agentId).executeTakeFirst()
      return found ? readRecord(found) : null
    },

    async latest(agentId: string): Promise<RecordRow | null> {
      const query = db.selectFrom('workspace_records').selectAll().where('agent_id', '=', agentId)
      const found = await query.where('number', '>', 0).orderBy('number', 'desc').limit(1).executeTakeFirst()
      return found ? readRecord(found) : null
    },

    /** Newest first. */
    async list(agentId: string, { before, limit }: RecordsPage): Promise<RecordRow[]> {
      const rows = await db
        .selectFrom('workspace_records')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('number', '>', 0)
        .$if(before !== null, (q) => q.where('number', '<', before ?? 0))
        .orderBy('number', 'desc')
        .limit(limit)
        .execute()
      return rows.map(readRecord)
    },

    /** Pins a record, or unpins it with `by` null. Returns false for an unknown one. */
    async pin(agentId: string, id: string, by: string | null): Promise<boolean> {
      const done = await db
        .updateTable('workspace_records')
        .set({ pinned: by === null ? 0 : 1, pinned_by: by })
        .where('id', '=', id)
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return done.numUpdatedRows > 0n
    },

    /**
     * Records that retention may remove, oldest first: not pinned, not the latest of their agent, and not of a run that
     * is still recorded or a restore that is not complete. `before`: only older ones.
     */
    removable(options: Removable & { limit?: number }): Promise<Pick<RecordRow, 'id' | 'agent_id'>[]> {
      const { limit } = options
      const query = removable(options).select(['r.id', 'r.agent_id']).orderBy('r.created_at').orderBy('r.id')
      return query.$if(limit !== undefined, (q) => q.limit(limit ?? 0)).execute()
    },

    async countRemovable(filter: Removable): Promise<number> {
      const query = removable(filter).select((e) => e.fn.countAll<number>().as('total'))
      return Number((await query.executeTakeFirstOrThrow()).total)
    },

    async countAll(): Promise<number> {
      const query = db.selectFrom('workspace_records').select((e) => e.fn.countAll<number>().as('total'))
      return Number((await query.executeTakeFirstOrThrow()).total)
    },

    /** Removes records, except those that were pinned meanwhile. Returns the removed ones. */
    async remove(ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      const removed = await db
        .deleteFrom('workspace_records')
        .where('id', 'in', [...ids])
        .where('pinned', '=', 0)
        .returning('id')
        .execute()
      return removed.map(({ id }) => id)
    },

    /** Which of these records exist. */
    async existing(ids: readonly string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set()
      const query = db.selectFrom('workspace_records').select('id')
      const rows = await query.where('id', 'in', [...ids]).execute()
      return new Set(rows.map(({ id }) => id))
    },

    /** Agents with records. */
    async agents(): Promise<string[]> {
      const rows = await db.selectFrom('workspace_records').select('agent_id').distinct().execute()
      return rows.map(({ agent_id }) => agent_id)
    },

    runOf,

    /** Of several runs, those that have a row. */
    async runsOf(executionIds: readonly string[]): Promise<RunRecordsRow[]> {
      if (executionIds.length === 0) return []
      const query = db.selectFrom('run_workspace_records').selectAll()
      return query.where('execution_id', 'in', [...executionIds]).execute()
    },

    /** Whether the agent's last recorded run failed because of a quota. */
    async isRefused(agentId: string): Promise<boolean> {
      const query = db.selectFrom('run_workspace_records').select('reason').where('agent_id', '=', agentId)
      const ended = query.where('outcome', 'in', ['recorded', 'failed']).orderBy('started_at', 'desc')
      return (await ended.limit(1).executeTakeFirst())?.reason === 'quota_full'
    },

    openRuns,

    /** The record before the open runs, which a run that starts meanwhile shares; null without open runs. */
    async sharedBefore(
      agentId: string,
      except: readonly string[],
    ): Promise<Pick<RunRecordsRow, 'before_id' | 'reason'> | null> {
      const found = await db
        .selectFrom('run_workspace_records')
        .select(['before_id', 'reason'])
        .where('agent_id', '=', agentId)
        .where('outcome', '=', 'recording')
        .where('execution_id', 'not in', [...except])
        .limit(1)
        .executeTakeFirst()
      return found ?? null
    },

    /** The other runs with the same records; at most `maxNamedRuns` of them are named. */
    async overlapOf(run: RunRecordsRow): Promise<{ named: string[]; count: number }> {
      const isOpen = run.outcome === 'recording'
      const ids = isOpen
        ? (await openRuns(run.agent_id)).map(({ execution_id }) => execution_id)
        : // Written by this platform.
          (JSON.parse(run.overlapped) as string[])
      const others = ids.filter((id) => id !== run.execution_id)
      return {
        named: others.slice(0, maxNamedRuns),
        count: isOpen ? others.length : run.overlapped_count,
      }
    },

    /** Whether another run than these may have written since the record before this one. */
    async hasLaterRuns(
      { agent_id, execution_id, started_at, before_id }: RunRecordsRow,
      except: string | null,
    ): Promise<boolean> {
      const found = await db
        .selectFrom('run_workspace_records')
        .select('execution_id')
        .where('agent_id', '=', agent_id)
        .where((e) => {
          // These runs began earlier, but the record before this one does not contain their changes.
          const isMissing = e.and([
            e('before_id', '=', before_id),
            e.or([e('after_id', 'is', null), e('after_id', '!=', e.ref('before_id'))]),
          ])
          return e.or([e('started_at', '>=', started_at), ...(before_id === null ? [] : [isMissing])])
        })
        .where('execution_id', 'not in', [execution_id, except ?? execution_id])
        .where((e) => e.or([e('reason', 'is', null), e('reason', '!=', 'run_may_not_write')]))
        .limit(1)
        .executeTakeFirst()
      return found !== undefined
    },

    /** Stores the start of runs, all or none. A run that is handed out again starts again. */
    async beginRuns(rows: readonly RunRecordsRow[]): Promise<void> {
      if (rows.length === 0) return
      const { execution_id: _, ...rest } = rows[0] as RunRecordsRow
      const columns = Object.keys(rest) as (keyof typeof rest)[]
      await db
        .insertInto('run_workspace_records')
        .values([...rows])
        .onConflict((conflict) =>
          conflict
            .column('execution_id')
            .doUpdateSet((e) => Object.fromEntries(columns.map((name) => [name, e.ref(`excluded.${name}`)]))),
        )
        .execute()
    },

    /** Notes that these runs have ended; the first note counts. */
    async endRuns(executionIds: readonly string[], at: string): Promise<void> {
      for (let from = 0; from < executionIds.length; from += idsPerStatement)
        await db
          .updateTable('run_workspace_records')
          .set({ ended_at: at })
          .where('execution_id', 'in', executionIds.slice(from, from + idsPerStatement))
          .where('ended_at', 'is', null)
          .execute()
    },

    /** The record after these runs, which share it; a run without a record before it stays incomplete. */
    async completeRuns(
      executionIds: readonly string[],
      end: { after: string } | { reason: RunRecordReason },
    ): Promise<void> {
      const overlap = {
        // Each row names its own run as well, so that one statement is enough.
        overlapped: JSON.stringify(executionIds.length > 1 ? executionIds.slice(0, maxNamedRuns + 1) : []),
        overlapped_count: executionIds.length - 1,
      }
      for (let from = 0; from < executionIds.length; from += idsPerStatement) {
        const update = db
          .updateTable('run_workspace_records')
          .set(overlap)
          .where('execution_id', 'in', executionIds.slice(from, from + idsPerStatement))
          .where('outcome', '=', 'recording')
        if ('reason' in end) await update.set({ outcome: 'failed', reason: end.reason }).execute()
        else
          await update
            .set({
              after_id: end.after,
              outcome: sql<RunRecordOutcome>`case when reason is null then 'recorded' else 'failed' end`,
            })
            .execute()
      }
    },

    async removeRuns(executionIds: readonly string[]): Promise<void> {
      if (executionIds.length === 0) return
      await db
        .deleteFrom('run_workspace_records')
        .where('execution_id', 'in', [...executionIds])
        .execute()
    },

    async settings(agentId: string): Promise<HistorySettingsRow | null> {
      const query = db.selectFrom('workspace_history_settings').selectAll()
      const row = await query.where('agent_id', '=', agentId).executeTakeFirst()
      return row ? { ...row, quota_bytes: row.quota_bytes === null ? null : Number(row.quota_bytes) } : null
    },

    async putSettings(row: HistorySettingsRow): Promise<void> {
      const { agent_id: _, ...rest } = row
      await db
        .insertInto('workspace_history_settings')
        .values(row)
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(rest))
        .execute()
    },
  }
}

/** PostgreSQL returns integers of this size as text. */
function readRecord(row: RecordRow): RecordRow {
  return { ...row, received_bytes: Number(row.received_bytes) }
}
