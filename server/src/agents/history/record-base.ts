import { isPortable } from '@roost/contracts/link/credentials'
import { type RecordId, UnknownRecord, type WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import type { Agent } from '../records/index.ts'
import { entriesOf, isBelow, omissionsOf } from './omissions.ts'
import type { AssumedBase } from './pull.ts'
import { storeName } from './rules.ts'

/** What a new record starts from. */
export type Base = {
  record: RecordId
  /** Null: the agent has compared its workspace with it. */
  assumed: AssumedBase | null
}

/**
 * The record that the workspace probably equals, for an agent that knows none: its own latest one, or that of a new fork.
 * Null without one. `isOrigin`: the volume was created from the record that was forked.
 */
export async function assumedBaseOf(
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>,
  agent: Pick<Agent, 'id' | 'forked_from'>,
  { latest, lost, isOrigin }: { latest: string | null; lost: readonly string[]; isOrigin: boolean },
): Promise<Base | null> {
  if (latest !== null) {
    const record = { agent: storeName(agent.id), record: latest }
    const paths = () => pathsOf(history, record)
    return { record, assumed: { paths, isWithheld: () => false, isOrigin: false } }
  }
  const origin = agent.forked_from
  if (!origin || lost.includes(origin.record_id)) return null
  const record = { agent: storeName(origin.agent_id), record: origin.record_id }
  try {
    // A fork may lack the source's credentials. It must not be able to test guesses of them.
    const withheld = await omissionsOf(history, record, (path) => isPortable(path, false))
    return {
      record,
      assumed: {
        paths: () => pathsOf(history, record),
        isWithheld: (path) => isBelow(withheld, path),
        isOrigin,
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
