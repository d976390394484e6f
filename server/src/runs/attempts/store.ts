import type { AttemptSetStatus, AttemptStatus } from '@roost/contracts/runs/attempts'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow, Spent } from '../executions/index.ts'
import { endedStatuses } from './rules.ts'
import type { AttemptSetsTable, AttemptsTable, AttemptTables } from './tables.ts'

export type SetRow = AttemptSetsTable
export type AttemptRow = AttemptsTable
export type AttemptRun = Pick<ExecutionRow, (typeof runColumns)[number]>

const runColumns = ['id', 'status', 'response', 'error', 'error_code', 'duration_ms', 'tool_count'] as const

type SetPatch = Partial<Omit<SetRow, 'id' | 'agent_id' | 'created_at'>>
type AttemptPatch = Partial<Omit<AttemptRow, 'set_id' | 'number'>>

/** All SQL about attempts. Of `executions`, it reads those of forks, and moves them to the source. */
export function attemptStore(executor: Executor) {
  const db = executor.withTables<AttemptTables>()

  async function costsOf(agentIds: readonly string[]): Promise<Map<string, Spent>> {
    if (agentIds.length === 0) return new Map()
    const rows = await db
      .selectFrom('executions')
      .select((e) => [
        'agent_id',
        e.fn.coalesce(e.fn.sum<number | string>('cost_micros'), e.lit(0)).as('micros'),
        e.fn.max<number | null>('cost_estimated').as('estimated'),
      ])
      .where('agent_id', 'in', [...agentIds])
      .groupBy('agent_id')
      .execute()
    // PostgreSQL returns sums as text.
    return new Map(
      rows.map((row) => [row.agent_id, { micros: Number(row.micros), isEstimated: row.estimated === 1 }]),
    )
  }

  return {
    costsOf,

    async insert(set: SetRow, attempts: readonly AttemptRow[]): Promise<void> {
      await db.insertInto('attempt_sets').values(set).execute()
      await db
        .insertInto('attempts')
        .values([...attempts])
        .execute()
    },

    async find(id: string): Promise<SetRow | null> {
      const row = await db.selectFrom('attempt_sets').selectAll().where('id', '=', id).executeTakeFirst()
      return row ? readSet(row) : null
    },

    /** Newest first. */
    async list(agentId: string, page: { limit: number; offset: number }): Promise<SetRow[]> {
      const rows = await db
        .selectFrom('attempt_sets')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
      return rows.map(readSet)
    },

    async count(agentId: string): Promise<number> {
      const query = db.selectFrom('attempt_sets').select((e) => e.fn.countAll<number>().as('total'))
      return Number((await query.where('agent_id', '=', agentId).executeTakeFirstOrThrow()).total)
    },

    /** Sets that may have forks or records. */
    async open(agentId?: string): Promise<SetRow[]> {
      const rows = await db
        .selectFrom('attempt_sets')
        .selectAll()
        .where('ended_at', 'is', null)
        .$if(agentId !== undefined, (q) => q.where('agent_id', '=', agentId ?? ''))
        .orderBy('created_at')
        .execute()
      return rows.map(readSet)
    },

    /** In the order of their numbers. */
    async attempts(setIds: readonly string[]): Promise<AttemptRow[]> {
      if (setIds.length === 0) return []
      const query = db
        .selectFrom('attempts')
        .selectAll()
        .where('set_id', 'in', [...setIds])
      return (await query.orderBy('set_id').orderBy('number').execute()).map(readAttempt)
    },

    /** Attempts of this account that have not ended. */
    async countWorking(userId: string): Promise<number> {
      const row = await db
        .selectFrom('attempts')
        .innerJoin('attempt_sets', 'attempt_sets.id', 'attempts.set_id')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('attempt_sets.created_by', '=', userId)
        .where('attempts.status', 'not in', [...endedStatuses])
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Returns false if the set is no longer in this state. */
    async changeSet(
      { id, status, restore_id }: Pick<SetRow, 'id' | 'status' | 'restore_id'>,
      patch: SetPatch & { updated_at: string },
    ): Promise<boolean> {
      const result = await db
        .updateTable('attempt_sets')
        .set(patch)
        .where('id', '=', id)
        .where('status', '=', status)
        .where('ended_at', 'is', null)
        .where('restore_id', restore_id === null ? 'is' : '=', restore_id)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    /** Keeps a set at work until the transaction ends. Returns false if it is not. */
    async lockWorking(id: string): Promise<boolean> {
      const result = await db
        .updateTable('attempt_sets')
        .set((row) => ({ status: row.ref('status') }))
        .where('id', '=', id)
        .where('status', '=', 'working' satisfies AttemptSetStatus)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    /** Returns false if the attempt is no longer in this state, or belongs to another fork. */
    async changeAttempt(
      { set_id, number, status, agent_name }: Pick<AttemptRow, 'set_id' | 'number' | 'status' | 'agent_name'>,
      patch: AttemptPatch & { updated_at: string },
    ): Promise<boolean> {
      const result = await db
        .updateTable('attempts')
        .set(patch)
        .where('set_id', '=', set_id)
        .where('number', '=', number)
        .where('status', '=', status)
        .where('agent_name', agent_name === null ? 'is' : '=', agent_name)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    /** Ends every attempt of a set that has not ended. */
    async cancelAttempts(setId: string, at: string): Promise<number> {
      const result = await db
        .updateTable('attempts')
        .set({ status: 'cancelled' satisfies AttemptStatus, updated_at: at })
        .where('set_id', '=', setId)
        .where('status', 'not in', [...endedStatuses])
        .executeTakeFirst()
      return Number(result.numUpdatedRows)
    },

    /** From now on, no attempt of the set is chosen without a person. */
    async stopPick(setId: string, message: string, at: string): Promise<void> {
      await db
        .updateTable('attempt_sets')
        .set({ message, updated_at: at })
        .where('id', '=', setId)
        .where('pick', '=', 'best_check')
        .where('kept_number', 'is', null)
        .where('message', 'is', null)
        .where('status', 'in', ['recording', 'working', 'done'])
        .execute()
    },

    async runs(executionIds: readonly string[]): Promise<AttemptRun[]> {
      if (executionIds.length === 0) return []
      const query = db.selectFrom('executions').select(runColumns)
      return query.where('id', 'in', [...executionIds]).execute()
    },

    /** What a set has cost so far: the runs of its forks, and what removed forks have cost. */
    async spent(setId: string): Promise<number> {
      const forks = db.selectFrom('attempts').select('agent_id').where('set_id', '=', setId)
      const [removed, present] = await Promise.all([
        db
          .selectFrom('attempts')
          .select((e) => e.fn.coalesce(e.fn.sum<number | string>('cost_micros'), e.lit(0)).as('micros'))
          .where('set_id', '=', setId)
          .executeTakeFirstOrThrow(),
        db
          .selectFrom('executions')
          .select((e) => e.fn.coalesce(e.fn.sum<number | string>('cost_micros'), e.lit(0)).as('micros'))
          .where('agent_id', 'in', forks.where('cost_micros', 'is', null).where('agent_id', 'is not', null))
          .executeTakeFirstOrThrow(),
      ])
      return Number(removed.micros) + Number(present.micros)
    },

    /** The set that a fork belongs to. */
    async setOfFork(
      agentId: string,
    ): Promise<Pick<SetRow, 'id' | 'agent_id' | 'max_cost_micros' | 'status'> | null> {
      const row = await db
        .selectFrom('attempts')
        .innerJoin('attempt_sets', 'attempt_sets.id', 'attempts.set_id')
        .select([
          'attempt_sets.id',
          'attempt_sets.agent_id',
          'attempt_sets.max_cost_micros',
          'attempt_sets.status',
        ])
        .where('attempts.agent_id', '=', agentId)
        .executeTakeFirst()
      return row ? { ...row, max_cost_micros: Number(row.max_cost_micros) } : null
    },

    /** Cost of forks of an agent that are not removed yet. */
    async openSpent(sourceId: string): Promise<Spent> {
      const forks = await db
        .selectFrom('attempts')
        .innerJoin('attempt_sets', 'attempt_sets.id', 'attempts.set_id')
        .select('attempts.agent_id')
        .where('attempt_sets.agent_id', '=', sourceId)
        .where('attempt_sets.ended_at', 'is', null)
        .where('attempts.cost_micros', 'is', null)
        .where('attempts.agent_id', 'is not', null)
        .execute()
      const costs = await costsOf(forks.flatMap(({ agent_id }) => agent_id ?? []))
      const all = [...costs.values()]
      return {
        micros: all.reduce((sum, { micros }) => sum + micros, 0),
        isEstimated: all.some(({ isEstimated }) => isEstimated),
      }
    },

    /** Makes the runs of a fork runs of another agent, and notes what they cost. */
    async moveRuns(
      forkId: string,
      to: { id: string; name: string; isDeleted: boolean },
      at: string,
    ): Promise<void> {
      const spent = (await costsOf([forkId])).get(forkId)
      await db
        .updateTable('executions')
        .set({ agent_id: to.id, agent_name: to.name, agent_deleted: to.isDeleted ? 1 : 0 })
        .where('agent_id', '=', forkId)
        .execute()
      await db
        .updateTable('attempts')
        .set({
          cost_micros: spent?.micros ?? 0,
          cost_estimated: spent?.isEstimated ? 1 : 0,
          updated_at: at,
        })
        .where('agent_id', '=', forkId)
        .where('cost_micros', 'is', null)
        .execute()
    },

    async remove(id: string): Promise<void> {
      await db.deleteFrom('attempt_sets').where('id', '=', id).execute()
    },

    /** Deletes at most `limit` sets that ended before. */
    async removeEnded(before: string, limit: number): Promise<number> {
      const ended = db.selectFrom('attempt_sets').select('id').where('ended_at', '<', before).limit(limit)
      const result = await db.deleteFrom('attempt_sets').where('id', 'in', ended).executeTakeFirst()
      return Number(result.numDeletedRows)
    },

    async hasSetIn(agentId: string, statuses: readonly AttemptSetStatus[]): Promise<boolean> {
      const row = await db
        .selectFrom('attempt_sets')
        .select('id')
        .where('agent_id', '=', agentId)
        .where('status', 'in', [...statuses])
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

/** PostgreSQL returns integers of this size as text. */
function readSet(row: SetRow): SetRow {
  return { ...row, max_cost_micros: Number(row.max_cost_micros) }
}

function readAttempt(row: AttemptRow): AttemptRow {
  return { ...row, cost_micros: row.cost_micros === null ? null : Number(row.cost_micros) }
}
