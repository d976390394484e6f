import { isPortable } from '@roost/contracts/link/credentials'
import {
  type RecordId,
  UnknownRecord,
  type Walked,
  type WorkspaceHistory,
} from '../../ports/workspace-history/port.ts'
import type { Agent } from '../records/index.ts'
import { isBelow, omissionsOf } from './omissions.ts'
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
 * Null without one.
 */
export async function assumedBaseOf(
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>,
  agent: Pick<Agent, 'id' | 'forked_from'>,
  { latest, lost }: { latest: string | null; lost: readonly string[] },
): Promise<Base | null> {
  if (latest !== null) {
    const record = { agent: storeName(agent.id), record: latest }
    return { record, assumed: { paths: () => pathsOf(history, record), isWithheld: () => false } }
  }
  const origin = agent.forked_from
  if (!origin || lost.includes(origin.record_id)) return null
  const record = { agent: storeName(origin.agent_id), record: origin.record_id }
  try {
    // Credentials may have stayed with the source, so nobody can find out by guesses what they are.
    const withheld = await omissionsOf(history, record, (path) => isPortable(path, false))
    return {
      record,
      assumed: { paths: () => pathsOf(history, record), isWithheld: (path) => isBelow(withheld, path) },
    }
  } catch (error) {
    // Retention may have removed it.
    if (error instanceof UnknownRecord) return null
    throw error
  }
}

async function* pathsOf(history: Pick<WorkspaceHistory, 'walk'>, record: RecordId): AsyncGenerator<string> {
  for await (const walked of history.walk(record, { withContents: false })) {
    // Without contents it yields entries only.
    yield (walked as Walked).entry.path
  }
}
