import type { ResultAnswer, RunResult } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import {
  type Ending,
  type ExecutionRow,
  executionStore,
  isFinal,
  queueStore,
  type RunHooks,
  type Settle,
} from '../executions/index.ts'
import { type Live, maskText, numberLine, storableText, transcriptStore } from '../transcripts/index.ts'
import type { Claimant, ClaimedRuns, createClaim } from './claim.ts'
import type { createLines } from './lines.ts'
import { isHeld, type SecretsOf } from './lines.ts'
import { metricsOf } from './rules.ts'

export type FinishDeps = Settle & {
  db: Db
  clock: Pick<Clock, 'now'>
  live: Pick<Live, 'changed'>
  link: Pick<AgentLink, 'wake'>
  hooks: RunHooks
  lines: ReturnType<typeof createLines>
  secretsOf: SecretsOf
  claims: Pick<ReturnType<typeof createClaim>, 'findClaimable' | 'claim'>
}

/** Lets a claim join a result of its agent. Called in the transaction, which may be repeated. */
export type ClaimJoin = {
  /** The claim to be answered with this result, if any. */
  join(): { agent: Claimant; free: number } | null
  /** True when a claim of the agent waits, so that no wake is needed. */
  isWaiting(): boolean
}

/** For a result without a claim. */
export const withoutClaim: ClaimJoin = { join: () => null, isWaiting: () => false }

/** `claimed` holds the runs of a claim that joined the result; null without one. */
export type Finished = { answer: ResultAnswer; claimed: ClaimedRuns | null }

export type Reported = Omit<RunResult, 't'>

/** Restarts of one run after its runtime lost the session. */
const maxRestarts = 1

/**
 * Processes the result of a run. It counts once and only under the current claim. A later one is rejected
 * with the reason; if it differs from the record, the log gets a note.
 */
export function createFinish(deps: FinishDeps) {
  const { db, clock, live, link, hooks, settle, secretsOf, claims } = deps

  async function finish(agentId: string, reported: Reported, join: ClaimJoin): Promise<Finished> {
    const hold = { id: reported.execution_id, agentId, claimToken: reported.claim_token }
    const secrets = await secretsOf(agentId)
    return db.atomicallyShared({ kind: 'finish', about: agentId }, async (tx): Promise<Finished> => {
      const [row, tools] = await Promise.all([
        executionStore(tx).byId(hold.id),
        transcriptStore(tx).countTools(hold.id),
      ])
      if (row?.agent_id !== agentId) return withoutRuns({ accepted: false, reason: 'stale_claim' })
      const result = masked(reported, secrets(row))
      if (!isHeld(row, hold)) return withoutRuns(await reject(tx, row, result))
      if (await restart(tx, row, result)) return withoutRuns({ accepted: true })
      const from = { statuses: ['running' as const], claimToken: hold.claimToken }
      const end = () => settle(tx, row, from, endingOf(row, result, tools))
      const claim = join.join()
      const [queue, ended] = claim ? await claims.findClaimable(tx, agentId, end) : [null, await end()]
      const claimed = claim && queue ? await claims.claim(tx, claim, queue) : null
      if (!ended) return { answer: { accepted: false, reason: 'stale_claim' }, claimed }
      // A slot is free, and the next turn of a conversation may start.
      if (!claimed) tx.onCommitted(() => join.isWaiting() || link.wake(agentId))
      return { answer: { accepted: true }, claimed }
    })
  }

  /** Puts the run back at its queue position, once, after the conversation has prepared the restart. */
  async function restart(tx: Tx, row: ExecutionRow, result: Reported): Promise<boolean> {
    if (result.status !== 'failed' || result.metadata.session_lost !== true) return false
    if (row.kind !== 'chat' || row.restarts >= maxRestarts) return false
    for (const hook of hooks.registered.sessionLost) {
      if (!(await hook(tx, row, result))) continue
      // If the run was terminated first, it stays as it is and the result is stale.
      if (!(await queueStore(tx).requeue(row.id, result.claim_token, row.restarts + 1))) return false
      await note(
        tx,
        row,
        'info',
        'The runtime no longer knew this conversation: the turn starts again from the stored messages.',
      )
      tx.onCommitted(() => {
        live.changed(row.id)
        link.wake(row.agent_id)
      })
      return true
    }
    return false
  }

  async function reject(tx: Tx, row: ExecutionRow, result: Reported): Promise<ResultAnswer> {
    if (!isFinal(row.status) || row.claim_token !== result.claim_token) {
      return { accepted: false, reason: 'stale_claim' }
    }
    const differs = row.status !== result.status
    if (differs && (await executionStore(tx).markLateResult(row.id, timestamp(clock.now())))) {
      const text = result.error ?? result.response ?? ''
      await note(
        tx,
        row,
        'warning',
        `A result came after the run had ended as ${row.status}: ${result.status}. ${text.slice(0, 2000)}`.trim(),
      )
    }
    return { accepted: false, reason: 'already_final' }
  }

  /** Adds a line from the platform; only between claims, while the agent counts no lines. */
  async function note(tx: Tx, row: ExecutionRow, level: 'info' | 'warning', message: string): Promise<void> {
    const n = await executionStore(tx).nextLine(row.id)
    const line: TranscriptLine = { type: 'system', subtype: 'notice', level, message: message.toWellFormed() }
    await transcriptStore(tx).add(row, [numberLine(line, n, timestamp(clock.now()), [])])
  }

  return {
    finish,

    /**
     * The HTTP form: lines and result in one request. Lines that came over the link before are not stored
     * again.
     */
    async report(agentId: string, reported: Reported, log: readonly TranscriptLine[]): Promise<ResultAnswer> {
      const { execution_id, claim_token } = reported
      for (let from = 1; from <= log.length; from += linesPerCall) {
        const slice = log.slice(from - 1, from - 1 + linesPerCall)
        const answer = await deps.lines(agentId, { execution_id, claim_token, from, lines: slice })
        if ('stale' in answer) break
      }
      return (await finish(agentId, reported, withoutClaim)).answer
    },
  }
}

const linesPerCall = 500

function withoutRuns(answer: ResultAnswer): Finished {
  return { answer, claimed: null }
}

function masked(reported: Reported, secrets: readonly string[]): Reported {
  const clean = (text: string | null) => (text === null ? null : maskText(storableText(text), secrets))
  return {
    ...reported,
    response: clean(reported.response),
    error: clean(reported.error),
    runtime_session_id: clean(reported.runtime_session_id),
  }
}

function endingOf(row: ExecutionRow, result: Reported, toolCount: number): Ending {
  const isFailed = result.status === 'failed'
  return {
    status: result.status,
    response: result.response,
    error: isFailed ? (result.error ?? 'The run failed without a reason.') : result.error,
    error_code: isFailed ? (result.error_code ?? 'agent_error') : result.error_code,
    terminal_reason: result.terminal_reason,
    runtime_session_id: result.runtime_session_id,
    tool_count: result.metadata.tool_count ?? toolCount,
    ...(result.execution_time_ms > 0 ? { duration_ms: result.execution_time_ms } : {}),
    ...metricsOf(result.metadata, row.metered_requests > 0),
  }
}
