import type { AgentCalls } from '@roost/contracts/link/messages'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Addressed, createAddressed } from './addressed.ts'
import { type AlertView, createAlertView } from './alert-view.ts'
import { type Alerts, createAlerts } from './alerts.ts'
import { createAnswer } from './answer.ts'
import { type Asks, type AsksDeps, createAsks } from './asks.ts'
import { createFileEntries } from './file-entries.ts'
import { createOutdated, type OutdatedDeps } from './outdated.ts'
import { createResolve, type Resolve } from './resolve.ts'
import { createResume, type ResumeDeps } from './resume.ts'
import { createSweep, type RetentionPort } from './retention.ts'
import { type ItemRow, operatorQueueStore } from './store.ts'
import { createView, type View, type ViewDeps } from './view.ts'

export type OperatorQueueDeps = AsksDeps &
  ViewDeps &
  Omit<ResumeDeps, 'asks'> &
  Omit<OutdatedDeps, 'alerts'> & {
    clock: Clock
    log: Log
    events: Pick<Outbox, 'append'>
    link: Pick<AgentLink, 'call' | 'isConnected'>
    retention: RetentionPort
  }

export type OperatorQueue = Alerts & {
  view: View
  /** Alerts of the platform, as its operations show them. */
  alerts: AlertView
  asks: Asks
  answer: ReturnType<typeof createAnswer>
  resolve: Resolve
  /** For people without an account, too: the Workspace. */
  addressed: Addressed
  /** What an agent's file says; answers what it is to say. */
  takeFile(
    agentId: string,
    message: Omit<AgentCalls['queue']['request'], 't'>,
  ): Promise<AgentCalls['queue']['answer']>
  /** Hook of the registry. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  /** What follows from answers so far is done; call before the database closes. */
  settled(): Promise<void>
}

export function createOperatorQueue(deps: OperatorQueueDeps): OperatorQueue {
  const { log, link } = deps
  const alerts = createAlerts(deps)
  const asks = createAsks(deps)
  const resume = createResume({ ...deps, asks })
  const working = new Set<Promise<unknown>>()

  /** After the commit: the agent's file is to say so, and a run may be due. Both are found again by a loop or a hello. */
  function settled(tx: Tx, row: ItemRow): void {
    tx.onCommitted(() => {
      if (row.resume === 'due') inBackground(resume.one(row.id))
      const { agent_id, source } = row
      if (agent_id !== null && source === 'file' && link.isConnected(agent_id)) {
        inBackground(link.call(agent_id, 'queue.look', {}))
      }
    })
  }

  function inBackground(work: Promise<unknown>): void {
    const done = work
      .catch((error: unknown) => log.debug({ err: error }, 'what follows from an answer comes later'))
      .finally(() => working.delete(done))
    working.add(done)
  }

  const resolve = createResolve({ ...deps, settled })
  const view = createView(deps)
  const answer = createAnswer({ ...deps, settled })
  return {
    ...alerts,
    view,
    alerts: createAlertView({ ...deps, settled }),
    asks,
    answer,
    addressed: createAddressed({ ...deps, answer: answer.one, shown: view.shown }),
    resolve,
    takeFile: createFileEntries({ ...deps, alerts, asks, resolve }),
    agentDeleted: (tx, agentId) => operatorQueueStore(tx).removeOfAgent(agentId),
    loops: [
      { name: 'operator-queue.expire', everySeconds: 30, run: resolve.expireDue },
      { name: 'operator-queue.outdated', everySeconds: 60, run: createOutdated({ ...deps, alerts }) },
      { name: 'operator-queue.retention', everySeconds: 3600, run: createSweep({ ...deps, alerts }) },
      { name: 'operator-queue.resume', everySeconds: 10, run: resume.pass },
    ],
    async settled() {
      while (working.size > 0) await Promise.all(working)
    },
  }
}
