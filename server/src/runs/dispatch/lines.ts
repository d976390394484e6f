import { leaseSeconds } from '@roost/contracts/link/messages'
import type { Lines, LinesAnswer } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import {
  activitySignal,
  type ExecutionRow,
  executionStore,
  type Hold,
  isPrivate,
  type LineCounts,
  queueStore,
} from '../executions/index.ts'
import {
  type Live,
  maxDailyMebibytes,
  maxTranscriptBytes,
  type NumberedLine,
  numberLine,
  sizeOfLines,
  toolsIn,
  transcriptStore,
} from '../transcripts/index.ts'
import { placeLines } from './rules.ts'

export type LinesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'signal'>
  live: Pick<Live, 'changed'>
  secretsOf: SecretsOf
}

/** Texts to mask in everything that an agent sends of a run, including the run's broker token. */
export type SecretsOf = (agentId: string) => Promise<(row: ExecutionRow) => readonly string[]>

/**
 * Stores the lines that an agent sends of a run. Repeated numbers are acknowledged without a change. Lines
 * after a gap are not stored, and the answer has the last stored number. A void claim is `stale`.
 */
export function createLines({ db, clock, events, live, secretsOf }: LinesDeps) {
  return async function lines(agentId: string, message: Omit<Lines, 't'>): Promise<LinesAnswer> {
    const hold = { id: message.execution_id, agentId, claimToken: message.claim_token }
    const secrets = await secretsOf(agentId)
    return db.atomically(async (tx) => {
      const at = timestamp(clock.now())
      // Another connection of the agent may send the same lines; the loser of the race reads again.
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const row = await executionStore(tx).byId(hold.id)
        if (!row || !isHeld(row, hold)) return { stale: true as const }
        const last = lastReceived(row)
        const place = placeLines(message.from, message.lines.length, last)
        if (place.kind !== 'append') return { acked: last }
        const fresh = message.lines.slice(place.skip)
        if (await append(tx, row, hold, { fresh, at, secrets: secrets(row) }))
          return { acked: last + fresh.length }
      }
      throw new Error('Too many connections store lines of one run concurrently.')
    })
  }

  async function append(
    tx: Tx,
    row: ExecutionRow,
    hold: Hold,
    chunk: { fresh: TranscriptLine[]; at: string; secrets: readonly string[] },
  ): Promise<boolean> {
    const { fresh, at, secrets } = chunk
    const numbered = fresh.map((line, index) => numberLine(line, row.last_line + index + 1, at, secrets))
    const { stored, counts } = await withinLimits(tx, row, numbered, at)
    const advance = { from: row, to: counts, leaseExpiresAt: leaseFrom(clock.now()) }
    if (!(await queueStore(tx).advanceLines(hold, advance))) return false
    if (counts.left_out_lines > 0) await transcriptStore(tx).addResults(row.id, toolsIn(numbered).ended)
    if (stored.length === 0) return true
    await transcriptStore(tx).add(row, stored)
    const mebibytes = mebibytesOf(counts) - mebibytesOf(row)
    if (mebibytes > 0) await queueStore(tx).addTranscriptMebibytes(row.agent_id, dayOf(at), mebibytes)
    tx.onCommitted(() => {
      live.changed(row.id)
      for (const tool of toolsIn(stored).started) {
        const shown = isPrivate(row) ? '' : tool.input_summary
        events.signal(activitySignal(row, 'started', { name: tool.tool, summary: shown }))
      }
    })
    return true
  }

  /**
   * Fails open for the run: at a limit it continues, a notice replaces the lines, and no later line is stored.
   * The agent's total is read only once per MiB, because runs rarely have more.
   */
  async function withinLimits(tx: Tx, row: ExecutionRow, lines: NumberedLine[], at: string) {
    const { last_line, line_offset, line_bytes, left_out_lines, left_out_at } = row
    const counts = { last_line, line_offset, line_bytes, left_out_lines, left_out_at }
    const leftOut = { ...counts, left_out_lines: left_out_lines + lines.length, left_out_at: at }
    if (left_out_lines > 0) return { stored: [], counts: leftOut }
    const after = {
      ...counts,
      last_line: last_line + lines.length,
      line_bytes: line_bytes + sizeOfLines(lines),
    }
    const reached = await limitReached(tx, row, after.line_bytes, dayOf(at))
    if (!reached) return { stored: lines, counts: after }
    const stored = [numberLine(reached, last_line + 1, at, [])]
    // The notice is no line of the agent.
    return { stored, counts: { ...leftOut, last_line: last_line + 1, line_offset: line_offset + 1 } }
  }

  async function limitReached(tx: Tx, row: ExecutionRow, line_bytes: number, day: string) {
    if (line_bytes > maxTranscriptBytes) return runLimitNotice
    const added = mebibytesOf({ line_bytes }) - mebibytesOf(row)
    if (added === 0) return null
    const stored = await queueStore(tx).transcriptMebibytes(row.agent_id, day)
    return stored + added > maxDailyMebibytes ? dailyLimitNotice : null
  }
}

const mebibyte = 1024 * 1024
const mebibytesOf = ({ line_bytes }: Pick<LineCounts, 'line_bytes'>) => Math.floor(line_bytes / mebibyte)
const dayOf = (at: string) => at.slice(0, 10)
const runLimitNotice = limitNotice(`this run has reached its limit of ${maxTranscriptBytes / mebibyte} MiB`)
const dailyLimitNotice = limitNotice(
  `the agent's runs of this day have reached their limit of ${maxDailyMebibytes / 1024} GiB`,
)

function limitNotice(reason: string): TranscriptLine {
  const message = `The transcript ends here, because ${reason}. The run continues.`
  return { type: 'system', subtype: 'notice', level: 'warning', message }
}

/** Number of the agent's last line that need not be sent again. */
export function lastReceived(row: LineCounts): number {
  return row.last_line + row.left_out_lines - row.line_offset
}

export function isHeld(row: ExecutionRow, hold: Hold): boolean {
  return row.status === 'running' && row.agent_id === hold.agentId && row.claim_token === hold.claimToken
}

/** End of a lease that is renewed now. */
export function leaseFrom(now: Date): string {
  return timestamp(secondsLater(now, leaseSeconds))
}
