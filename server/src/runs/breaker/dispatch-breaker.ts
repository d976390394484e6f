import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { agentStore } from '../../agents/records/index.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { type ExecutionRow, queueStore, type RunHooks, type Settle } from '../executions/index.ts'
import { admit, afterRun, blank, isBlank, stateOf, verdictOf } from './rules.ts'
import { breakerStore } from './store.ts'

export type DispatchBreakerDeps = Settle & {
  clock: Pick<Clock, 'now'>
  hooks: RunHooks
  /** The platform setting `dispatch_breaker_enabled`. */
  isPlatformEnabled(): boolean
  alerts: Pick<Alerts, 'raise'>
}

export type DispatchBreaker = {
  /**
   * Called for every new run, in the transaction that accepts it. The breaker stays locked until its end, so
   * that a run accepted before an opening is seen by it. `probe`: no other run may be accepted beside this
   * one. Throws `circuit_open`.
   */
  admitIn(tx: Tx, agent: { id: string; name: string }, executionId: string): Promise<'free' | 'probe'>
  /** An admitted run did not enter the queue after all: another may be the probe. */
  withdraw(tx: Tx, agentId: string, executionId: string): Promise<void>
  /** The agents of these that accept any number of new runs; locks their breakers like `admitIn`. */
  freeIn(tx: Tx, agentIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** Counts provider refusals in ended runs, and refuses new runs once there are too many. */
export function createDispatchBreaker(deps: DispatchBreakerDeps): DispatchBreaker {
  const { clock, hooks, settle, isPlatformEnabled, alerts } = deps

  /** Whether both toggles are on, as of this transaction. */
  async function isActing(tx: Tx, agentId: string): Promise<boolean> {
    if (!isPlatformEnabled()) return false
    return (await agentStore(tx).byId(agentId))?.circuit_breaker_enabled ?? false
  }

  async function ended(tx: Tx, row: ExecutionRow, now: Date): Promise<void> {
    // An unclaimed run says nothing about the agent's credentials.
    const run = { id: row.id, verdict: row.claim_token === null ? 'neutral' : verdictOf(row) } as const
    const store = breakerStore(tx)
    // The usual case: nothing is stored, so the statement needs no answer.
    if (run.verdict === 'success') return tx.alongside(store.clear(row.agent_id, 'dispatch'))
    if (run.verdict === 'neutral') return tx.alongside(store.releaseProbe(row.agent_id, 'dispatch', run.id))
    if (run.verdict === 'other' && isBlank(await store.read(row.agent_id, 'dispatch'))) return
    const memory = await store.hold(row.agent_id, 'dispatch')
    const next = afterRun(memory, run, { now, mayOpen: await isActing(tx, row.agent_id) })
    if (!next) return
    await store.write(row.agent_id, 'dispatch', next)
    const opens = stateOf(next, now) === 'open' && stateOf(memory, now) !== 'open'
    if (!opens) return
    await failWaiting(tx, row.agent_id)
    await alerts.raise(tx, openAlert(row))
  }

  async function failWaiting(tx: Tx, agentId: string): Promise<void> {
    for (const row of await queueStore(tx).waitingRows(agentId)) {
      if (row.status === 'queued') await settle(tx, row, { statuses: ['queued'] }, openEnding)
    }
  }

  hooks.onEnded(ended)

  return {
    async admitIn(tx, agent, executionId) {
      if (!(await isActing(tx, agent.id))) return 'free'
      const store = breakerStore(tx)
      const admission = admit(await store.hold(agent.id, 'dispatch'), executionId, clock.now())
      if (!admission.admit) {
        const detail = `The circuit breaker of the agent "${agent.name}" is open: its provider refuses the credentials.`
        throw new Fault('circuit_open', detail, { retry_after_seconds: admission.retryAfterSeconds })
      }
      if (!admission.memory) return 'free'
      await store.write(agent.id, 'dispatch', admission.memory)
      return 'probe'
    },

    withdraw: (tx, agentId, executionId) => breakerStore(tx).releaseProbe(agentId, 'dispatch', executionId),

    async freeIn(tx, agentIds) {
      if (!isPlatformEnabled()) return new Set(agentIds)
      const [acting, memories] = await Promise.all([
        agentStore(tx).withBreaker(agentIds),
        breakerStore(tx).holdAll(agentIds, 'dispatch'),
      ])
      const now = clock.now()
      return new Set(
        agentIds.filter((id) => !acting.has(id) || stateOf(memories.get(id) ?? blank, now) === 'closed'),
      )
    },
  }
}

function openAlert(row: ExecutionRow): PlatformAlert {
  return {
    agentId: row.agent_id,
    kind: 'breaker_open',
    title: `The model provider refuses the credentials of "${row.agent_name}"`,
    question:
      'New runs of the agent are refused until a run gets through. Check its provider key or subscription.',
    priority: 'high',
    context: { error_code: row.error_code },
    executionId: row.id,
  }
}

const openEnding = {
  status: 'failed',
  error: 'The circuit breaker of the agent opened while the run waited.',
  error_code: 'circuit_open',
} as const
