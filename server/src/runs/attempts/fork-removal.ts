import type { Bases } from '../../agents/bases/index.ts'
import { storeName } from '../../agents/history/index.ts'
import type { AgentManagement } from '../../agents/management/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { isEnded } from './rules.ts'
import { type AttemptRow, attemptStore, type SetRow } from './store.ts'

export type ForkRemovalDeps = {
  db: Db
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'everyRow'>
  agentManagement: Pick<AgentManagement, 'remove'>
  bases: Pick<Bases, 'drop'>
  workspaceHistory: Pick<WorkspaceHistory, 'removeAll'>
}

/** Removes the forks of attempts, with their containers, volumes and records. */
export function createForkRemoval(deps: ForkRemovalDeps) {
  const store = attemptStore(deps.db)

  async function remove({ id }: Agent): Promise<void> {
    await deps.agentManagement.remove(id).catch((error: unknown) => {
      if (!(error instanceof Fault && error.code === 'agent_not_found')) throw error
    })
    // Retention removes what a killed process leaves.
    await deps.workspaceHistory.removeAll(storeName(id))
  }

  return {
    /** Returns false while a fork of an ended attempt exists, such as one that is being made. */
    async removeEnded(setId: string, attempts: readonly AttemptRow[]): Promise<boolean> {
      const working = new Set(
        attempts.filter(({ status }) => !isEnded(status)).map(({ agent_name }) => agent_name),
      )
      const unneeded = async () =>
        (await deps.agentRecords.everyRow()).filter(
          ({ attempt_set_id, name }) => attempt_set_id === setId && !working.has(name),
        )
      await Promise.all((await unneeded()).filter(({ state }) => state === 'ready').map(remove))
      return (await unneeded()).length === 0
    },

    /** Bases removes later what is not removed here. */
    async dropBase({ id, base_record_id }: SetRow): Promise<void> {
      if (base_record_id === null) return
      await deps.bases.drop(base_record_id).catch((error: unknown) => {
        deps.log.warn({ err: error, attempt_set: id }, 'the base volume of attempts was not removed')
      })
    },

    /** Removes forks without a set, such as those of a deleted source. */
    async removeStrays(): Promise<void> {
      const open = new Set((await store.open()).map(({ id }) => id))
      for (const agent of await deps.agentRecords.everyRow()) {
        const { attempt_set_id: setId, state } = agent
        if (setId === null || state !== 'ready' || open.has(setId)) continue
        // The row may be newer than the list of sets.
        const set = await store.find(setId)
        if (!set || set.ended_at !== null) await remove(agent)
      }
    },
  }
}
