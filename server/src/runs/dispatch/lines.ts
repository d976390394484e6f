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
import { keepLine, type Live, toolsIn, transcriptStore } from '../transcripts/index.ts'
import { placeLines } from './rules.ts'

export type LinesDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'signal'>
  live: Pick<Live, 'changed'>
  secretsOf: SecretsOf
}

/** Texts to blot out of what an agent says of a run, the token of the run's model traffic included. */
export type SecretsOf = (agentId: string) => Promise<(row: ExecutionRow) => readonly string[]>

/**
 * Stores what an agent sends of a run. Sending the same numbers again changes nothing and is acknowledged;
 * lines behind a gap are not stored, and the answer says from where to send. A void claim is `stale`.
 */
export function createLines({ db, clock, events, live, secretsOf }: LinesDeps) {
  return async function lines(agentId: string, message: Omit<Lines, 't'>): Promise<LinesAnswer> {
    const hold = { id: message.execution_id, agentId, claimToken: message.claim_token }
    const secrets = await secretsOf(agentId)
    return db.atomically(async (tx) => {
      const at = timestamp(clock.now())
      // Another connection of the same agent may send the same lines: whoever is second looks again.
      for (let look = 0; look < 4; look += 1) {
        const row = await executionStore(tx).byId(hold.id)
        if (!row || !isHeld(row, hold)) return { stale: true as const }
        const last = row.last_line - row.line_offset
        const place = placeLines(message.from, message.lines.length, last)
        if (place.kind !== 'append') return { acked: last }
        const fresh = message.lines.slice(place.skip)
        if (await append(tx, row, hold, { fresh, at, secrets: secrets(row) }))
          return { acked: last + fresh.length }
      }
      throw new Error('Lines of one run are stored by too many at once.')
    })
  }

  async function append(
    tx: Tx,
    row: ExecutionRow,
    hold: Hold,
    given: { fresh: TranscriptLine[]; at: string; secrets: readonly string[] },
  ): Promise<boolean> {
    const { fresh, at, secrets } = given
    const advance = {
      from: row.last_line,
      to: row.last_line + fresh.length,
      leaseExpiresAt: leaseFrom(clock.now()),
    }
    if (!(await queueStore(tx).advanceLines(hold, advance))) return false
    const kept = fresh.map((line, index) => keepLine(line, row.last_line + index + 1, at, secrets))
    await transcriptStore(tx).add(row, kept)
    tx.onCommitted(() => {
      live.changed(row.id)
      for (const tool of toolsIn(kept).started) {
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

/** Until when a lease lasts that is renewed now. */
export function leaseFrom(now: Date): string {
  return timestamp(secondsLater(now, leaseSeconds))
}
