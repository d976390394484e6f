import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Live, type PartialText, type PlacedPiece, transcriptStore } from '../transcripts/index.ts'
import { isFinal } from './rules.ts'
import { type ExecutionRow, executionStore } from './store.ts'

/** Events of a followed run, in order. */
export type Watched =
  /** A stored line: its number and its JSON text. */
  | { kind: 'line'; n: number; text: string }
  /** A piece of the answer that is being written; the full text follows as a line. */
  | { kind: 'partial'; partial: PartialText | PlacedPiece }
  /** The status of the run changed. */
  | { kind: 'status'; status: ExecutionRow['status'] }
  /** No event for `keepaliveSeconds`. */
  | { kind: 'quiet' }
  /** The run has ended and every line was sent. Always last. */
  | { kind: 'end'; row: ExecutionRow }

export type WatchOptions = {
  /** Starts after the line with this number. */
  after?: number
  /**
   * Includes pieces of the answer: all new ones, or with `whole` only blocks known from their start, with
   * their text so far and their offsets.
   */
  partials?: boolean | 'whole'
  /** False: only status and end. */
  lines?: boolean
  /** Ends the iteration. */
  signal: AbortSignal
}

/**
 * Follows a run until it has ended: first the stored lines, then new ones, each once. Reads the store after
 * every notice and every `keepaliveSeconds`, so a lost notice only costs time. Ends immediately for an unknown
 * run.
 */
export type Watch = (executionId: string, options: WatchOptions) => AsyncGenerator<Watched, void, undefined>

export function createWatch(deps: {
  db: Db
  live: Pick<Live, 'listen' | 'openPieces'>
  clock: Clock
  keepaliveSeconds: number
}): Watch {
  const { db, live, clock, keepaliveSeconds } = deps
  return async function* watch(executionId, options) {
    const { after = 0, partials = false, lines = true, signal } = options
    const notices = createNotices()
    const stop = live.listen(executionId, {
      changed: () => notices.changed(),
      ...(partials ? { partial: notices.partial } : {}),
      ...(partials === 'whole' ? { joined: notices.partial } : {}),
    })
    try {
      const store = executionStore(db)
      let lastSent = after
      let status: ExecutionRow['status'] | null = null
      const blocks = partials === 'whole' ? createWholeBlocks() : null
      let isCaughtUp = false
      while (!signal.aborted) {
        // Reads the record before the lines: once it is final, no valid line is added.
        const now = await store.progress(executionId)
        if (!now) return
        if (status !== now.status && status !== null && !isFinal(now.status)) {
          yield { kind: 'status', status: now.status }
        }
        status = now.status
        while (lines && lastSent < now.last_line && !signal.aborted) {
          const found = await transcriptStore(db).page(executionId, lastSent)
          for (const { n, text } of found) {
            yield { kind: 'line', n, text }
            lastSent = n
          }
          if (found.length === 0) break
        }
        if (signal.aborted) return
        if (isFinal(now.status)) {
          const row = await store.byId(executionId)
          if (row) yield { kind: 'end', row }
          return
        }
        if (blocks && !isCaughtUp) {
          // Pieces received meanwhile are included here, or in a line that follows.
          notices.dropPartials()
          for (const piece of live.openPieces(executionId)) {
            if (blocks.isNext(piece)) yield { kind: 'partial', partial: piece }
          }
        }
        isCaughtUp = true
        for (;;) {
          const next = await notices.next(clock, keepaliveSeconds * 1000, signal)
          if (next === 'changed') break
          if (next === 'quiet') {
            yield { kind: 'quiet' }
            break
          }
          if (next === 'aborted') return
          if (!blocks) yield { kind: 'partial', partial: bare(next) }
          else if (blocks.isNext(next)) yield { kind: 'partial', partial: next }
        }
      }
    } finally {
      stop()
    }
  }
}

/**
 * Waits until a run has ended, without the costs of following it. Returns null for an unknown run and after an abort.
 * Reads the record after the notice of its end and every `keepaliveSeconds`, so a lost notice only costs time.
 */
export type UntilEnd = (executionId: string, signal: AbortSignal) => Promise<ExecutionRow | null>

export function createUntilEnd(deps: {
  db: Db
  live: Pick<Live, 'listenForEnd'>
  clock: Clock
  keepaliveSeconds: number
}): UntilEnd {
  const { db, live, clock, keepaliveSeconds } = deps
  return async function untilEnd(executionId, signal) {
    let notice = Promise.withResolvers<void>()
    const stop = live.listenForEnd(executionId, () => notice.resolve())
    try {
      while (!signal.aborted) {
        const woken = new AbortController()
        const quiet = clock.wait(keepaliveSeconds * 1000, AbortSignal.any([signal, woken.signal]))
        await Promise.race([notice.promise, quiet])
        woken.abort()
        if (signal.aborted) return null
        // Renewed before the read, so that a notice during it is not missed.
        notice = Promise.withResolvers<void>()
        const now = await executionStore(db).progress(executionId)
        if (!now) return null
        if (isFinal(now.status)) return await executionStore(db).byId(executionId)
      }
      return null
    } finally {
      stop()
    }
  }
}

/** A reader this far behind loses pieces; the line that follows has the full text. */
const maxPartialLength = 1024 * 1024

function bare({ type, kind, text }: PlacedPiece): PartialText {
  return { type, kind, text }
}

/** Passes pieces that continue their block or start one. */
function createWholeBlocks() {
  const lengths: Partial<Record<PlacedPiece['kind'], number>> = {}
  return {
    isNext({ kind, at, text }: PlacedPiece): boolean {
      if (at !== 0 && at !== lengths[kind]) return false
      lengths[kind] = at + text.length
      return true
    },
  }
}

/** Received events that were not handled yet, in order; adjacent pieces of one kind are joined. */
function createNotices() {
  let pending: ('changed' | PlacedPiece)[] = []
  let arrived = Promise.withResolvers<void>()

  function add(item: 'changed' | PlacedPiece): void {
    pending.push(item)
    arrived.resolve()
  }

  return {
    changed() {
      if (pending.at(-1) !== 'changed') add('changed')
    },
    partial(piece: PlacedPiece) {
      const last = pending.at(-1)
      if (last === undefined || last === 'changed' || last.kind !== piece.kind || piece.at === 0)
        return add({ ...piece })
      if (last.text.length >= maxPartialLength) return
      if (last.at + last.text.length === piece.at) last.text += piece.text
      else add({ ...piece })
    },
    dropPartials() {
      pending = pending.filter((item) => item === 'changed')
      if (pending.length === 0) arrived = Promise.withResolvers<void>()
    },
    async next(
      clock: Clock,
      quietMs: number,
      signal: AbortSignal,
    ): Promise<'changed' | 'quiet' | 'aborted' | PlacedPiece> {
      if (pending.length === 0) {
        const woken = new AbortController()
        const quiet = clock.wait(quietMs, AbortSignal.any([signal, woken.signal]))
        await Promise.race([arrived.promise, quiet])
        woken.abort()
      }
      const [item, ...rest] = pending
      pending = rest
      if (rest.length === 0) arrived = Promise.withResolvers<void>()
      if (signal.aborted) return 'aborted'
      return item ?? 'quiet'
    },
  }
}
