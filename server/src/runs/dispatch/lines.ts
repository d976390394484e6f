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
  queueStore,
} from '../executions/index.ts'
import { type Live, numberLine, toolsIn, transcriptStore } from '../transcripts/index.ts'
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
        const last = row.last_line - row.line_offset
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
    const advance = {
      from: row.last_line,
      to: row.last_line + fresh.length,
      leaseExpiresAt: leaseFrom(clock.now()),
    }
    if (!(await queueStore(tx).advanceLines(hold, advance))) return false
    const stored = fresh.map((line, index) => numberLine(line, row.last_line + index + 1, at, secrets))
    await transcriptStore(tx).add(row, stored)
    tx.onCommitted(() => {
      live.changed(row.id)
      for (const tool of toolsIn(stored).started) {
        const shown = isPrivate(row) ? '' : tool.input_summary
        events.signal(activitySignal(row, 'started', { name: tool.tool, summary: shown }))
      }
    })
    return true
  }
}

export function isHeld(row: ExecutionRow, hold: Hold): boolean {
  return row.status === 'running' && row.agent_id === hold.agentId && row.claim_token === hold.claimToken
}

/** End of a lease that is renewed now. */
export function leaseFrom(now: Date): string {
  return timestamp(secondsLater(now, leaseSeconds))
}
