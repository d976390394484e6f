import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { agentStore } from '../../agents/records/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { type ExecutionRow, queueStore, type RunHooks, type Settle } from '../executions/index.ts'
import { admit, afterRun, blank, isBlank, stateOf, verdictOf } from './rules.ts'
import { breakerStore } from './store.ts'

export type DispatchBreakerDeps = Settle & {
  clock: Pick<Clock, 'now'>
  hooks: RunHooks
  /** The platform's setting `dispatch_breaker_enabled`. */
  isPlatformEnabled(): boolean
  /** Tells operators that it has opened. */
  raiseAlert(tx: Tx, alert: PlatformAlert): Promise<void>
}

export type DispatchBreaker = {
  /**
   * Asked of every new run, in the transaction that takes it in; the breaker is held until that ends, so
   * that a run which came in before it opened is seen when it opens. `probe`: nothing else may be handed out
   * beside this run. Throws `circuit_open`.
   */
  admitIn(tx: Tx, agent: { id: string; name: string }, executionId: string): Promise<'free' | 'probe'>
  /** Which of these agents take any number of new runs in; their breakers are held as above. */
  freeIn(tx: Tx, agentIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** Counts what ended runs say of the credentials, and refuses new runs once they say no. */
export function createDispatchBreaker(deps: DispatchBreakerDeps): DispatchBreaker {
  const { clock, hooks, settle, isPlatformEnabled, raiseAlert } = deps

  /** The two toggles, as they are in this transaction. */
  async function isActing(tx: Tx, agentId: string): Promise<boolean> {
    if (!isPlatformEnabled()) return false
    return (await agentStore(tx).byId(agentId))?.circuit_breaker_enabled ?? false
  }

  async function ended(tx: Tx, row: ExecutionRow, now: Date): Promise<void> {
    // What no agent has claimed says nothing of the credentials that it works with.
    const run = { id: row.id, verdict: row.claim_token === null ? 'neutral' : verdictOf(row) } as const
    const store = breakerStore(tx)
    // Nearly every run ends so with nothing remembered, and nobody waits for an answer to hear that.
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
    await raiseAlert(tx, openAlert(row))
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
      const asked = admit(await store.hold(agent.id, 'dispatch'), executionId, clock.now())
      if (!asked.admit) {
        const detail = `The circuit breaker of the agent "${agent.name}" is open: its provider refuses the credentials.`
        throw new Fault('circuit_open', detail, { retry_after_seconds: asked.retryAfterSeconds })
      }
      if (!asked.memory) return 'free'
      await store.write(agent.id, 'dispatch', asked.memory)
      return 'probe'
    },

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
