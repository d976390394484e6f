import type { Tx } from '../../ports/database/port.ts'
import type { Agent } from '../records/index.ts'

type StoppingHook = (tx: Tx, agent: Agent, now: Date) => Promise<void>

/** Work for the transaction that stops an agent; other features register at startup. */
export type LifecycleHooks = {
  /** The agent is about to be stopped: running executions are cancelled (`agent_stopped`), queued ones wait. */
  onStopping(hook: StoppingHook): void
  stopping: StoppingHook
}

export function createLifecycleHooks(): LifecycleHooks {
  const registered: StoppingHook[] = []
  return {
    onStopping: (hook) => {
      registered.push(hook)
    },
    async stopping(tx, agent, now) {
      for (const hook of registered) await hook(tx, agent, now)
    },
  }
}
