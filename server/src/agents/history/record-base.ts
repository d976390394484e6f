import { isPortable } from '@roost/contracts/link/credentials'
import { type RecordId, UnknownRecord, type WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import type { Agent } from '../records/index.ts'
import { entriesOf, isBelow, type Omissions, omissionsOf } from './omissions.ts'
import type { AssumedBase } from './pull.ts'
import { storeName } from './rules.ts'

/** What a new record starts from. */
export type Base = {
  record: RecordId
  /** Null: the agent has compared its workspace with it. */
  assumed: AssumedBase | null
}

export type ForkOrigin = {
  /** What the fork did not get from the record. */
  omitted: Omissions
  /**
   * When the program of a layered fork first started, in milliseconds of the clock that stamps its files. Files that have
   * not changed since are not compared. Null: the workspace is a copy, or the time is unknown.
   */
  untouchedSince: number | null
}

/**
 * The record that the workspace probably equals, for an agent that knows none: its own latest one, or that of a new fork.
 * Null without one.
 */
export async function assumedBaseOf(
  history: Pick<WorkspaceHistory, 'walk' | 'sizes' | 'entries'>,
  agent: Pick<Agent, 'id' | 'forked_from'>,
  { latest, lost, fork }: { latest: string | null; lost: readonly string[]; fork: ForkOrigin | undefined },
): Promise<Base | null> {
  if (latest !== null) {
    const record = { agent: storeName(agent.id), record: latest }
    const paths = () => pathsOf(history, record)
    return { record, assumed: { paths, isWithheld: () => false, origin: null } }
  }
  const { forked_from: from } = agent
  if (!from || lost.includes(from.record_id)) return null
  const record = { agent: storeName(from.agent_id), record: from.record_id }
  try {
    // A fork may lack the source's credentials. It must not be able to test guesses of them.
    const omitted = fork?.omitted ?? (await omissionsOf(history, record, (path) => isPortable(path, false)))
    const isLayered = fork !== undefined && fork.untouchedSince !== null
    const entries = (paths: readonly string[]) => history.entries(record, paths)
    return {
      record,
      assumed: {
        paths: () => pathsOf(history, record),
        isWithheld: (path) => isBelow(omitted.paths, path),
        origin: isLayered ? { omitted, entries } : null,
      },
    }
  } catch (error) {
    // Retention may have removed it.
    if (error instanceof UnknownRecord) return null
    throw error
  }
}

async function* pathsOf(history: Pick<WorkspaceHistory, 'walk'>, record: RecordId): AsyncGenerator<string> {
  for await (const { path } of entriesOf(history, record)) yield path
}
