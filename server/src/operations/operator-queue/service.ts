import type { AgentCalls } from '@roost/contracts/link/messages'
import type { QueueItem, RespondBody } from '@roost/contracts/operations/operator-queue'
import type { Loop } from '../../background/loops.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Breakers } from '../../runs/breaker/index.ts'
import { type AlertList, createAlertList } from './alert-list.ts'
import { createAlertSink } from './alert-sink.ts'
import { type Answerer, createAnswer } from './answer.ts'
import { type Asks, type AsksDeps, createAsks } from './asks.ts'
import { createFileEntries } from './file-entries.ts'
import { createResolve, type Resolve } from './resolve.ts'
import { createResume, type ResumeDeps } from './resume.ts'
import { type ItemRow, operatorQueueStore } from './store.ts'
import { createView, type View, type ViewDeps } from './view.ts'

export type OperatorQueueDeps = AsksDeps &
  ViewDeps &
  Omit<ResumeDeps, 'asks'> & {
    clock: Clock
    log: Log
    events: Pick<Outbox, 'append'>
    link: Pick<AgentLink, 'call' | 'isConnected'>
    /** The queue registers itself as the sink. */
    alerts: Alerts
    breakers: Pick<Breakers, 'view'>
    settings: SweepDeps['settings']
  }

export type OperatorQueue = {
  view: View
  alerts: AlertList
  asks: Asks
  answer: ReturnType<typeof createAnswer>
  resolve: Resolve
  addressed: Addressed
  /** Reconciles the entries of an agent's file with its items. Returns what the file must change. */
  takeFile(
    agentId: string,
    message: Omit<AgentCalls['queue']['request'], 't'>,
  ): Promise<AgentCalls['queue']['answer']>
  /** Called in the transaction that deletes an agent. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  /** Resolves when the work started by answers is done; call before the database closes. */
  settled(): Promise<void>
}

/** Items for people known by their address, with or without an account: the Workspace. */
export type Addressed = {
  /** Items of these agents that are addressed to this email, newest first. */
  asksOf(email: string, agentIds: readonly string[]): Promise<QueueItem[]>
  /** Throws `not_found` for an item of other agents or addressed to others, and the faults of `answer.one`. */
  answer(
    by: Answerer & { email: string },
    agentIds: readonly string[],
    id: string,
    body: RespondBody,
  ): Promise<QueueItem>
}

const maxAddressedItems = 200

export function createOperatorQueue(deps: OperatorQueueDeps): OperatorQueue {
  const { db, log, link, alerts, breakers, agentRecords } = deps
  alerts.register(createAlertSink(deps))
  const asks = createAsks(deps)
  const resume = createResume({ ...deps, asks })
  const working = new Set<Promise<unknown>>()
  const store = operatorQueueStore(db)

  /**
   * After the commit, updates the agent's file and starts a due run. If either fails, a loop or the agent's next
   * connection repeats it.
   */
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
      .catch((error: unknown) => log.debug({ err: error }, 'the effect of an answer is delayed'))
      .finally(() => working.delete(done))
    working.add(done)
  }

  /** Polls instead of asking in every run that succeeds, which is what closes a breaker. */
  async function clearBreakerAlerts(signal: AbortSignal): Promise<void> {
    for (const { agent_id } of await store.pendingOfKind('breaker_open')) {
      if (signal.aborted) return
      const agent = agent_id === null ? null : await agentRecords.byId(agent_id)
      if (!agent || (await breakers.view(agent)).dispatch.state !== 'closed') continue
      await db.atomically((tx) => alerts.clear(tx, agent.id, 'breaker_open'))
    }
  }

  const resolve = createResolve({ ...deps, settled })
  const view = createView(deps)
  const answer = createAnswer({ ...deps, settled })
  return {
    view,
    alerts: createAlertList({ ...deps, settled }),
    asks,
    answer,
    addressed: {
      async asksOf(email, agentIds) {
        const rows = await store.asksOf(email, agentIds, { limit: maxAddressedItems })
        return Promise.all(rows.map(view.viewOf))
      },
      async answer(by, agentIds, id, body) {
        const row = await store.byId(id)
        const isAddressed = row?.addressed_to_email === by.email && agentIds.includes(row.agent_id ?? '')
        if (!isAddressed) throw new Fault('not_found', 'There is no such item.')
        return view.viewOf(await answer.one(id, body, by))
      },
    },
    resolve,
    takeFile: createFileEntries({ ...deps, asks, resolve }),
    agentDeleted: (tx, agentId) => operatorQueueStore(tx).removeOfAgent(agentId),
    loops: [
      { name: 'operator-queue.expire', everySeconds: 30, run: resolve.expireDue },
      { name: 'operator-queue.outdated', everySeconds: 60, run: clearBreakerAlerts },
      createSweep(deps, {
        name: 'operator-queue.retention',
        what: 'the operator queue',
        key: 'operator_queue_retention_days',
        countBefore: store.countResolved,
        countAll: store.countAll,
        removeBefore: store.removeResolved,
      }),
      { name: 'operator-queue.resume', everySeconds: 10, run: resume.pass },
    ],
    async settled() {
      while (working.size > 0) await Promise.all(working)
    },
  }
}
