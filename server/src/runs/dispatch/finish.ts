import type { ResultAnswer, RunResult } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import type { RunContext } from '../../agents/run-context/index.ts'
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
import { keepLine, type Live, maskText, storableText, transcriptStore } from '../transcripts/index.ts'
import type { createClaim, Taken } from './claim.ts'
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

/** Where a claim may wait for a result of its agent; asked in the transaction, which may be done again. */
export type Desk = {
  /** The claim that is to be answered with this result, if any. */
  join(): { agent: RunContext; free: number } | null
  /** A claim of the agent waits: nobody has to wake it. */
  isAsked(): boolean
}

/** Of a result that comes without a claim. */
export const alone: Desk = { join: () => null, isAsked: () => false }

/** `taken`: what a claim was given along with the result; null when none was. */
export type Finished = { answer: ResultAnswer; taken: Taken | null }

export type Reported = Omit<RunResult, 't'>

/** How often one run is handed out again because the runtime's session was gone. */
const maxRestarts = 1

/**
 * Takes the result of a run. It counts once and only under the present claim; what comes later is refused
 * with the reason, and kept as a note in the log when it says something else than the record.
 */
export function createFinish(deps: FinishDeps) {
  const { db, clock, live, link, hooks, settle, secretsOf, claims } = deps

  async function finish(agentId: string, reported: Reported, desk: Desk): Promise<Finished> {
    const hold = { id: reported.execution_id, agentId, claimToken: reported.claim_token }
    const secrets = await secretsOf(agentId)
    return db.atomicallyShared({ kind: 'finish', about: agentId }, async (tx): Promise<Finished> => {
      const [row, tools] = await Promise.all([
        executionStore(tx).byId(hold.id),
        transcriptStore(tx).countTools(hold.id),
      ])
      if (row?.agent_id !== agentId) return told({ accepted: false, reason: 'stale_claim' })
      const result = masked(reported, secrets(row))
      if (!isHeld(row, hold)) return told(await refuse(tx, row, result))
      if (await restart(tx, row, result)) return told({ accepted: true })
      const from = { statuses: ['running' as const], claimToken: hold.claimToken }
      const end = () => settle(tx, row, from, endingOf(row, result, tools))
      const claim = desk.join()
      const [line, ended] = claim ? await claims.findClaimable(tx, agentId, end) : [null, await end()]
      const taken = claim && line ? await claims.claim(tx, claim, line) : null
      if (!ended) return { answer: { accepted: false, reason: 'stale_claim' }, taken }
      // A slot is free, and a conversation may go on.
      if (!taken) tx.onCommitted(() => desk.isAsked() || link.wake(agentId))
      return { answer: { accepted: true }, taken }
    })
  }

  /** The same execution goes back to its place in the queue, once, when the conversation has arranged it. */
  async function restart(tx: Tx, row: ExecutionRow, result: Reported): Promise<boolean> {
    if (result.status !== 'failed' || result.metadata.session_lost !== true) return false
    if (row.kind !== 'chat' || row.restarts >= maxRestarts) return false
    for (const hook of hooks.registered.sessionLost) {
      if (!(await hook(tx, row, result))) continue
      // Terminate may have been first: then the run stays as it is, and the result is stale.
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

  async function refuse(tx: Tx, row: ExecutionRow, result: Reported): Promise<ResultAnswer> {
    if (!isFinal(row.status) || row.claim_token !== result.claim_token) {
      return { accepted: false, reason: 'stale_claim' }
    }
    const isNews = row.status !== result.status
    if (isNews && (await executionStore(tx).markLateResult(row.id, timestamp(clock.now())))) {
      const said = result.error ?? result.response ?? ''
      await note(
        tx,
        row,
        'warning',
        `A result came after the run had ended as ${row.status}: ${result.status}. ${said.slice(0, 2000)}`.trim(),
      )
    }
    return { accepted: false, reason: 'already_final' }
  }

  /** A line of the platform's own; only between claims, when the agent counts no lines. */
  async function note(tx: Tx, row: ExecutionRow, level: 'info' | 'warning', message: string): Promise<void> {
    const n = await executionStore(tx).nextLine(row.id)
    const line: TranscriptLine = { type: 'system', subtype: 'notice', level, message: message.toWellFormed() }
    await transcriptStore(tx).add(row, [keepLine(line, n, timestamp(clock.now()), [])])
  }

  return {
    finish,

    /**
     * The HTTP form: lines and result in one. Lines that were sent over the link before are not stored again.
     */
    async report(agentId: string, reported: Reported, log: readonly TranscriptLine[]): Promise<ResultAnswer> {
      const { execution_id, claim_token } = reported
      for (let from = 1; from <= log.length; from += batch) {
        const slice = log.slice(from - 1, from - 1 + batch)
        const answer = await deps.lines(agentId, { execution_id, claim_token, from, lines: slice })
        if ('stale' in answer) break
      }
      return (await finish(agentId, reported, alone)).answer
    },
  }
}

const batch = 500

function told(answer: ResultAnswer): Finished {
  return { answer, taken: null }
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
    error: isFailed ? (result.error ?? 'The run failed without saying why.') : result.error,
    error_code: isFailed ? (result.error_code ?? 'agent_error') : result.error_code,
    terminal_reason: result.terminal_reason,
    runtime_session_id: result.runtime_session_id,
    tool_count: result.metadata.tool_count ?? toolCount,
    ...(result.execution_time_ms > 0 ? { duration_ms: result.execution_time_ms } : {}),
    ...metricsOf(result.metadata, row.metered_requests > 0),
  }
}
