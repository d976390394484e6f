import { type Clock, timestamp } from '../../kit/clock.ts'
import { createTurnsByKey } from '../../kit/turns.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { HistoryFull, UnknownRecord, type WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { recordedChanges } from './changes.ts'
import { countsOf } from './record.ts'
import { leftOutOf, storeName } from './rules.ts'
import { historyStore } from './store.ts'
import type { RecordRow } from './tables.ts'
import type { UsageMeter } from './usage.ts'

/** `id` is chosen by the caller, so that a repeated request changes nothing. */
export type AdoptRequest = {
  from: { agentId: string; recordId: string }
  agentId: string
  id: string
  /** A record of the agent that the new one is compared with. */
  baseId: string
  setId: string
  /** Whether the set still needs the record. It stays so until the transaction has ended. */
  isNeeded(tx: Tx): Promise<boolean>
}

/** Records of attempts: they belong to the source, so that they outlive the fork. */
export type AttemptRecords = {
  /** Null: it is no longer needed. Throws `UnknownRecord`, and `HistoryFull` if the agent's quota does not hold it. */
  adopt(request: AdoptRequest): Promise<RecordRow | null>
  /** Removes the records of a set, and its hold on their base. */
  release(agentId: string, setId: string): Promise<void>
}

export function createAttemptRecords({
  db,
  clock,
  history,
  usage,
}: {
  db: Db
  clock: Pick<Clock, 'now'>
  history: WorkspaceHistory
  usage: UsageMeter
}): AttemptRecords {
  const store = historyStore(db)
  /** So that several attempts do not exceed the quota together. */
  const turns = createTurnsByKey()

  async function adopt(request: AdoptRequest): Promise<RecordRow | null> {
    const { from, agentId, id, baseId, setId, isNeeded } = request
    const existing = await store.record(agentId, id)
    if (existing) return existing
    const record = await store.record(from.agentId, from.recordId)
    if (!record) throw new UnknownRecord(from.recordId)
    const agent = storeName(agentId)
    await history.copy({ agent: storeName(from.agentId), record: record.id }, { agent, record: id })
    if (!(await usage.isWithinQuota(agentId))) {
      await history.remove(agent, [id])
      throw new HistoryFull()
    }
    const { number: _, ...columns } = record
    const base = await store.record(agentId, baseId)
    const changes = await history.changes({ agent, record: baseId }, { agent, record: id })
    const row: Omit<RecordRow, 'number'> = {
      ...columns,
      ...countsOf(
        recordedChanges(changes, { before: base ? leftOutOf(base) : [], after: leftOutOf(record) }),
      ),
      ...{ id, agent_id: agentId, reason: 'attempt', created_at: timestamp(clock.now()) },
      ...{ base_id: baseId, source_id: null, pinned: 0, pinned_by: null, attempt_set_id: setId },
    }
    // After the end of the set, nothing would remove it.
    const stored = await db.atomically(async (tx) =>
      (await isNeeded(tx)) ? historyStore(tx).insertAttempt(row) : null,
    )
    if (!stored) await history.remove(agent, [id])
    return stored
  }

  return {
    adopt: (request) => turns(request.agentId, () => adopt(request)),
    async release(agentId, setId) {
      const deleted = await db.atomically((tx) => historyStore(tx).releaseSet(setId))
      await history.remove(storeName(agentId), deleted)
      if (deleted.length > 0) await usage.measure(agentId)
    },
  }
}
