import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Live, type PartialText, type PlacedPiece, transcriptStore } from '../transcripts/index.ts'
import { isFinal } from './rules.ts'
import { type ExecutionRow, executionStore } from './store.ts'

/** What a reader of a run is told, in order. */
export type Watched =
  /** A stored line: its number and its JSON text. */
  | { kind: 'line'; n: number; text: string }
  /** A piece of the answer that is being written; the whole follows as a line. */
  | { kind: 'partial'; partial: PartialText | PlacedPiece }
  /** The record has changed its status. */
  | { kind: 'status'; status: ExecutionRow['status'] }
  /** Nothing for `quietSeconds`. */
  | { kind: 'quiet' }
  /** The run has ended and every line was told. The last one. */
  | { kind: 'end'; row: ExecutionRow }

export type WatchOptions = {
  /** Starts behind the line of this number. */
  after?: number
  /**
   * Tells pieces of the answer too: those that come, or (`whole`) only of blocks that can be told from their
   * beginning, with what was written of them before and with their places.
   */
  partials?: boolean | 'whole'
  /** Without lines: only status and end. */
  lines?: boolean
  quietSeconds?: number
  /** Ends the iteration. */
  signal: AbortSignal
}

/**
 * Follows a run: first what is stored, then what comes, without gap or repeat, until it has ended. It looks
 * into the store whenever something may be new, and every `quietSeconds` by itself, so a lost notice costs
 * time and never a line. Ends at once for an unknown run.
 */
export type Watch = (executionId: string, options: WatchOptions) => AsyncGenerator<Watched, void, undefined>

export function createWatch(deps: {
  db: Db
  live: Pick<Live, 'listen' | 'openPieces'>
  clock: Clock
}): Watch {
  const { db, live, clock } = deps
  return async function* watch(executionId, options) {
    const { after = 0, partials = false, lines = true, quietSeconds = 15, signal } = options
    const news = createNews()
    const stop = live.listen(executionId, {
      changed: () => news.changed(),
      ...(partials ? { partial: (piece: PlacedPiece) => news.partial(piece) } : {}),
    })
    try {
      const store = executionStore(db)
      let told = after
      let status: ExecutionRow['status'] | null = null
      const blocks = partials === 'whole' ? createWholeBlocks() : null
      let isCaughtUp = false
      while (!signal.aborted) {
        // The record is read before the lines: once it is final no line is added that counts.
        const now = await store.progress(executionId)
        if (!now) return
        if (status !== now.status && status !== null && !isFinal(now.status)) {
          yield { kind: 'status', status: now.status }
        }
        status = now.status
        while (lines && told < now.last_line && !signal.aborted) {
          const found = await transcriptStore(db).page(executionId, told)
          for (const { n, text } of found) {
            yield { kind: 'line', n, text }
            told = n
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
          // What was heard meanwhile is in here, or stands in a line that comes.
          news.dropPartials()
          for (const piece of live.openPieces(executionId)) {
            if (blocks.isNext(piece)) yield { kind: 'partial', partial: piece }
          }
        }
        isCaughtUp = true
        for (;;) {
          const next = await news.next(clock, quietSeconds * 1000, signal)
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

/** A reader that is this far behind loses pieces; the line that follows has the whole text. */
const maxPartialLength = 1024 * 1024

function bare({ type, kind, text }: PlacedPiece): PartialText {
  return { type, kind, text }
}

/** Lets those pieces through that go on where their block stood, or begin one. */
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

/** What has been heard and not been dealt with, in order; neighbours of one kind become one. */
function createNews() {
  let heard: ('changed' | PlacedPiece)[] = []
  let arrived = Promise.withResolvers<void>()

  function add(item: 'changed' | PlacedPiece): void {
    heard.push(item)
    arrived.resolve()
  }

  return {
    changed() {
      if (heard.at(-1) !== 'changed') add('changed')
    },
    partial(piece: PlacedPiece) {
      const last = heard.at(-1)
      if (last === undefined || last === 'changed' || last.kind !== piece.kind || piece.at === 0)
        return add({ ...piece })
      if (last.text.length < maxPartialLength) last.text += piece.text
    },
    dropPartials() {
      heard = heard.filter((item) => item === 'changed')
      if (heard.length === 0) arrived = Promise.withResolvers<void>()
    },
    async next(
      clock: Clock,
      quietMs: number,
      signal: AbortSignal,
    ): Promise<'changed' | 'quiet' | 'aborted' | PlacedPiece> {
      if (heard.length === 0) {
        const waited = new AbortController()
        const quiet = clock.wait(quietMs, AbortSignal.any([signal, waited.signal]))
        await Promise.race([arrived.promise, quiet])
        waited.abort()
      }
      const [item, ...rest] = heard
      heard = rest
      if (rest.length === 0) arrived = Promise.withResolvers<void>()
      if (signal.aborted) return 'aborted'
      return item ?? 'quiet'
    },
  }
}
