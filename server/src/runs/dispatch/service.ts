import type { AgentCalls } from '@roost/contracts/link/messages'
import type { Partial as PartialSignal, Run } from '@roost/contracts/link/runs'
import { pieceKinds, wholeKinds } from '@roost/contracts/link/transcript'
import type { RunRecording } from '../../agents/history/index.ts'
import type { RunContexts } from '../../agents/run-context/index.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type AccessEnd, principalAt } from '../../identity/access/index.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink, LinkHandlers } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { DispatchBreaker } from '../breaker/index.ts'
import {
  cancelOnAgent,
  type ExecutionRow,
  executionStore,
  isFinal,
  queueStore,
  type RunHooks,
  type Settle,
} from '../executions/index.ts'
import type { Live } from '../transcripts/index.ts'
import { type Accept, createAccept } from './accept.ts'
import { type Batch, createBatch } from './batch.ts'
import { createClaim, type RunKeyOf, readAttachment } from './claim.ts'
import { createFinish, type Reported } from './finish.ts'
import { createHold } from './hold.ts'
import { createIsolation } from './isolation.ts'
import { createLines, isHeld, type SecretsOf } from './lines.ts'
import { createPieces } from './pieces.ts'
import { createReap } from './reap.ts'
import { createRecords, type Records } from './record.ts'
import type { RequestSnapshot } from './request.ts'
import { attachmentStore } from './store.ts'
import { createTurnover, type TurnoverDeps } from './turnover.ts'

export type DispatchDeps = Settle & {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Log
  events: Pick<Outbox, 'append' | 'appendAll' | 'signal'>
  alerts: Pick<Alerts, 'raise' | 'clear'>
  live: Live
  link: AgentLink
  hooks: RunHooks
  runContexts: RunContexts
  /** Null: workspaces are not recorded. */
  recording: RunRecording | null
  breaker: DispatchBreaker
  /** Address for the run's model traffic, with a token that is valid only for this run. */
  brokerAccess(row: ExecutionRow): Run['broker']
  /** Makes the run keys of an agent; null without an agent that has a key of its own. */
  runKeysOf(agentId: string): Promise<RunKeyOf>
  platformPrompt(): Promise<string | null>
  mayBegin: TurnoverDeps['mayBegin']
  /** Maximum number of runs that wait for one agent. */
  queueDepth: number
}

export type Dispatch = Accept &
  Records &
  Batch & {
    /** Handlers of messages from agents; `beat` is the part that renews leases. */
    handlers: Pick<
      LinkHandlers,
      'hello' | 'claim' | 'started' | 'lines' | 'result' | 'attachment' | 'partial'
    > & {
      connected(agent: { agentId: string }): void
    }
    /** Renews the leases of the runs in a heartbeat, over the link or over HTTP. */
    beat(agentId: string, beat: Pick<AgentCalls['beat']['request'], 'executions'>): Promise<void>
    /** The result of a run with its transcript, from the HTTP callback. */
    report: ReturnType<typeof createFinish>['report']
    agentStopped(tx: Tx, agentId: string): Promise<void>
    agentDeleted(tx: Tx, agentId: string): Promise<void>
    /** Cancels the open runs of these principals, also those that they led to on other agents. */
    accessEnded(tx: Tx, end: AccessEnd): Promise<void>
    loops: { name: string; everySeconds: number; run(signal: AbortSignal): Promise<void> }[]
  }

export function createDispatch(deps: DispatchDeps): Dispatch {
  const { db, link, hooks, runContexts, recording } = deps
  const secretsOf: SecretsOf = async (agentId) => {
    const [own, keyOf] = await Promise.all([runContexts.secrets(agentId), deps.runKeysOf(agentId)])
    return (row) => [...own, deps.brokerAccess(row).token, keyOf(row)]
  }
  const lines = createLines({ ...deps, secretsOf })
  const claims = createClaim(deps)
  const { finish, report } = createFinish({ ...deps, lines, secretsOf, claims })
  const isolation = createIsolation(deps)
  const { mayBegin } = deps
  const turnover = createTurnover({
    ...{ runContexts, mayBegin, allowed: isolation.allowed, claims, finish },
    isRecorded: async (agentId) => (await recording?.isOn(agentId)) ?? false,
    mayClaim: async (agentId) => recording === null || mayClaim(db, recording, agentId),
  })
  const { hello, started, beat } = createHold(deps)
  const reap = createReap(deps)

  hooks.onEnded(async (tx, row) => {
    // Written by this feature when the run was accepted.
    const request = JSON.parse(row.request) as RequestSnapshot
    if (request.attachments !== 0) await attachmentStore(tx).remove(row.id)
  })

  async function attachment(
    agentId: string,
    message: AgentCalls['attachment']['request'],
  ): Promise<AgentCalls['attachment']['answer']> {
    const { execution_id, claim_token, index, offset, length } = message
    const row = await executionStore(db).byId(execution_id)
    if (!row || !isHeld(row, { id: execution_id, agentId, claimToken: claim_token })) return { stale: true }
    const piece = await readAttachment(db, execution_id, { index, offset, length })
    return piece ?? { stale: true }
  }

  async function partial(agentId: string, signal: PartialSignal): Promise<void> {
    // A piece under a void claim is dropped; the next line has its text.
    if (lastClaims.holds(agentId, signal)) await pieces.add(agentId, signal)
  }

  const lastClaims = createLastClaims()
  const pieces = createPieces({ ...deps, secretsOf, runOf: (id) => executionStore(db).byId(id) })

  return {
    ...createAccept(deps),
    ...createRecords(deps),
    ...createBatch(deps),
    ...createAgentEnd(deps),
    report,
    beat: (agentId, message) =>
      beat(
        agentId,
        (message.executions ?? []).map((run) => run.execution_id),
      ),
    handlers: {
      hello: async ({ agentId }, message) => {
        const answer = await hello(agentId, message)
        await isolation.hello(agentId, message)
        const dropped = new Set(answer.drop)
        for (const run of message.held) if (!dropped.has(run.execution_id)) lastClaims.note(agentId, run)
        return answer
      },
      claim: async ({ agentId }, { free }) => {
        const answer = await turnover.claim(agentId, free)
        for (const run of answer.runs) lastClaims.note(agentId, run)
        return answer
      },
      started: ({ agentId }, message) => started(agentId, message),
      lines: async ({ agentId }, message) => {
        // Closed before the lines are stored: pieces that arrive meanwhile belong to the next block.
        if (lastClaims.holds(agentId, message)) {
          await pieces.closed(message.execution_id, wholeKinds(message.lines))
        }
        return lines(agentId, message)
      },
      result: async ({ agentId }, message: Reported) => {
        if (lastClaims.holds(agentId, message)) await pieces.closed(message.execution_id, pieceKinds)
        const answer = await turnover.result(agentId, message)
        if (lastClaims.holds(agentId, message)) {
          lastClaims.forget(message.execution_id)
          pieces.remove(message.execution_id)
        }
        return answer
      },
      attachment: ({ agentId }, message) => attachment(agentId, message),
      partial: ({ agentId }, signal) => partial(agentId, signal),
      connected({ agentId }) {
        queueStore(db)
          .countWaiting(agentId)
          .then((waiting) => {
            if (waiting > 0) link.wake(agentId)
          })
          // The loop runs again within seconds.
          .catch((error: unknown) => deps.log.warn({ err: error }, 'queued runs could not be counted'))
      },
    },
    loops: [
      { name: 'runs.leases', everySeconds: 10, run: (signal) => reap.leases(signal) },
      { name: 'runs.nudge', everySeconds: 10, run: (signal) => reap.nudge(signal) },
      { name: 'runs.expire', everySeconds: 60, run: (signal) => reap.expire(signal) },
    ],
  }
}

/** Without waiting runs there is nothing to claim: the agent is woken by the next one. */
async function mayClaim(db: Db, recording: RunRecording, agentId: string): Promise<boolean> {
  const runs = await queueStore(db).beforeClaim(agentId)
  return (await recording.mayClaim(agentId, runs)) && runs.isWaiting
}

/**
 * The claims that this process has answered or learned from a hello. Enough to forward pieces of answers,
 * which arrive by the dozen per second and are not stored.
 */
function createLastClaims() {
  type Claimed = { execution_id: string; claim_token: number }
  const claims = new Map<string, { agentId: string; token: number }>()
  const maxClaims = 10_000
  return {
    note(agentId: string, { execution_id, claim_token }: Claimed): void {
      claims.delete(execution_id)
      claims.set(execution_id, { agentId, token: claim_token })
      const oldest = claims.keys().next().value
      if (claims.size > maxClaims && oldest !== undefined) claims.delete(oldest)
    },
    holds(agentId: string, { execution_id, claim_token }: Claimed): boolean {
      const claim = claims.get(execution_id)
      return claim?.agentId === agentId && claim.token === claim_token
    },
    forget: (executionId: string) => void claims.delete(executionId),
  }
}

/** Ends the runs of an agent that is stopped or deleted, or of people who lost access; hooks of the agents area. */
export function createAgentEnd({ settle, link }: Settle & { link: Pick<AgentLink, 'call'> }) {
  async function cancel(
    tx: Tx,
    rows: readonly ExecutionRow[],
    ending: { error: string; error_code: 'agent_stopped' | 'agent_deleted' | 'access_ended' },
  ): Promise<ExecutionRow[]> {
    const cancelled: ExecutionRow[] = []
    const end = { status: 'cancelled', terminal_reason: 'cancelled', ...ending } as const
    for (const row of rows) {
      // A claim may have changed the status since it was read.
      for (let now: ExecutionRow | null = row; now && !isFinal(now.status); ) {
        const isEnded = await settle(tx, now, { statuses: [now.status] }, end)
        if (isEnded) cancelled.push(now)
        now = isEnded ? null : await executionStore(tx).byId(row.id)
      }
    }
    return cancelled
  }

  return {
    /** Ends running runs; queued ones stay. */
    async agentStopped(tx: Tx, agentId: string): Promise<void> {
      const queue = queueStore(tx)
      await queue.lockQueue(agentId)
      await cancel(tx, await queue.runningOf(agentId), {
        error: 'The agent was stopped.',
        error_code: 'agent_stopped',
      })
    },

    /** Ends every run; the history stays, for admins. */
    async agentDeleted(tx: Tx, agentId: string): Promise<void> {
      const queue = queueStore(tx)
      await queue.lockQueue(agentId)
      const open = [...(await queue.runningOf(agentId)), ...(await queue.waitingRows(agentId))]
      await cancel(tx, open, { error: 'The agent was deleted.', error_code: 'agent_deleted' })
      await executionStore(tx).markAgentDeleted(agentId)
      await queue.removeQueue(agentId)
    },

    async accessEnded(tx: Tx, { agent, isOf, reason }: AccessEnd): Promise<void> {
      const rows = (await queueStore(tx).openWithPrincipal(agent.id)).filter(({ agent_id, principal }) => {
        const origin = principal === null ? null : principalAt(agent.id, { agent_id, principal })
        return origin !== null && isOf(origin)
      })
      for (const row of await cancel(tx, rows, { error: reason, error_code: 'access_ended' })) {
        // An unreachable agent drops the run when it connects again.
        if (row.claim_token !== null) tx.onCommitted(() => void cancelOnAgent(link, row).catch(() => {}))
      }
    },
  }
}
