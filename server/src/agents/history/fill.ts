import { randomUUID } from 'node:crypto'
import { defaultHistoryRules, type HistoryRules } from '@roost/contracts/link/history'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import { UnknownRecord, type WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { isBelow, type Omissions } from './omissions.ts'
import { textOf } from './paths.ts'
import { applyRestore, RestoreUnsettled } from './restore.ts'
import { leftOutOf, storeName } from './rules.ts'
import type { RecordRow } from './tables.ts'

export type FillRequest = {
  /** A running agent that nobody uses yet. */
  agentId: string
  record: RecordRow
  /** What is not taken from this record. */
  omitted: Promise<Omissions>
  /** The workspace has the whole record already: what is left out is deleted. */
  isComplete: boolean
}

export type Filled = {
  /** The first paths that were not taken. */
  omitted: string[]
  omittedCount: number
  /** The first paths that could not be written. */
  conflicts: string[]
  conflictCount: number
}

const maxNamed = 20

const sourceOf = ({ agent_id, id }: RecordRow) => ({ agent: storeName(agent_id), record: id })

/**
 * Fills the workspace of a new agent with a record, which may be another agent's. Throws `record_not_found` if retention
 * removes the record meanwhile.
 */
export async function fillWorkspace(
  { link, history, clock }: { link: Pick<AgentLink, 'call'>; history: WorkspaceHistory; clock: Clock },
  { agentId, record, omitted: coming, isComplete }: FillRequest,
): Promise<Filled> {
  const source = sourceOf(record)
  try {
    const { paths: omitted } = await coming
    const filled = { omitted: [...omitted].slice(0, maxNamed).map(textOf), omittedCount: omitted.size }
    if (isComplete && omitted.size === 0) return { ...filled, conflicts: [], conflictCount: 0 }
    const taken: Pick<WorkspaceHistory, 'list' | 'readAll'> = {
      list: async (id, folder) =>
        (await history.list(id, folder))?.filter(({ path }) => !omitted.has(path)) ?? null,
      async *readAll(id, items) {
        // The agent names the paths.
        if (items.some(({ path }) => isBelow(omitted, path)))
          throw new Fault('conflict', 'The agent asks for a file that it must not get.')
        for await (const found of history.readAll(id, items)) {
          if (!found.pieces) throw new UnknownRecord(id.record)
          yield found
        }
      },
    }
    const { outcome, fault, conflicts, conflict_count } = await applyRestore(
      { link, history: taken, clock },
      {
        ...{ restoreId: randomUUID(), agentId, storeAgent: storeName(agentId), source },
        ...{ paths: isComplete ? [...omitted] : [''], rules: rulesOf(record), leftOut: leftOutOf(record) },
      },
      async () => {},
    )
    if (outcome === 'applying' || fault !== null)
      throw new Fault('conflict', `The workspace could not be filled: ${fault ?? 'no reason'}`)
    const named = conflicts.slice(0, maxNamed).map(({ path }) => textOf(path))
    // Files that the record left out keep the folders around them. Anything else is a credential that must not be here.
    const kept = conflicts.filter(({ reason }) => reason !== 'left_out')
    if (isComplete && (kept.length > 0 || conflict_count > conflicts.length))
      throw new Fault(
        'conflict',
        `These files must not be copied, and could not be deleted: ${named.map((path) => JSON.stringify(path)).join(', ')}. Delete them in the source, or fork it with its credentials.`,
      )
    return { ...filled, conflicts: named, conflictCount: conflict_count }
  } catch (error) {
    if (error instanceof RestoreUnsettled)
      throw new Fault('agent_unresponsive', 'The new agent did not answer.', {}, { cause: error })
    if (error instanceof UnknownRecord || !(await history.list(source, '')))
      throw new Fault('record_not_found', 'The record was removed meanwhile.', {}, { cause: error })
    throw error
  }
}

/** The rules by which it was made. */
export function rulesOf({ rules }: RecordRow): HistoryRules {
  // Written by this platform.
  return rules === null ? defaultHistoryRules : (JSON.parse(rules) as HistoryRules)
}
