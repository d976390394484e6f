import type { Tx } from '../../ports/database/port.ts'
import type { Agent } from '../records/index.ts'

type Stopping = (tx: Tx, agent: Agent, now: Date) => Promise<void>

/** What must happen in the transaction that decides an agent's end of work; features register at start. */
export type LifecycleHooks = {
  /** The agent is about to be stopped: running executions are cancelled (`agent_stopped`), queued ones wait. */
  onStopping(act: Stopping): void
  stopping: Stopping
}

export function createLifecycleHooks(): LifecycleHooks {
  const acts: Stopping[] = []
  return {
    onStopping: (act) => {
      acts.push(act)
    },
    async stopping(tx, agent, now) {
      for (const act of acts) await act(tx, agent, now)
    },
  }
}
