import type { AlertKind, PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Tx } from '../../ports/database/port.ts'

/** Stores alerts in the caller's transaction. */
export type AlertSink = {
  /** Stores a new alert, or updates the pending one of the same agent and kind, and run if it is per run. */
  raise(tx: Tx, alert: PlatformAlert): Promise<void>
  /** Withdraws the pending alert of this kind, if there is one; `agentId` null: about no single agent. */
  clear(tx: Tx, agentId: string | null, kind: AlertKind): Promise<void>
}

export type Alerts = AlertSink & {
  /** Throws when a sink is registered already. */
  register(sink: AlertSink): void
}

const maxTitleLength = 300
const maxQuestionLength = 4000

export function createAlerts(): Alerts {
  let registered: AlertSink | null = null

  /** An alert that nobody stores would be lost silently, so a missing sink fails the transaction. */
  function sink(): AlertSink {
    if (!registered) throw new Error('Alerts have no sink: the operator queue is not registered.')
    return registered
  }

  return {
    async raise(tx, { question, ...alert }) {
      await sink().raise(tx, {
        ...alert,
        title: shorten(alert.title, maxTitleLength),
        ...(question === undefined ? {} : { question: shorten(question, maxQuestionLength) }),
      })
    },
    async clear(tx, agentId, kind) {
      await sink().clear(tx, agentId, kind)
    },
    register(sink) {
      if (registered) throw new Error('Alerts have a sink already.')
      registered = sink
    },
  }
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text
}
