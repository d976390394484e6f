import { randomUUID } from 'node:crypto'
import {
  type HistoryDigestAnswer,
  type HistoryPageAnswer,
  type HistoryPart,
  type HistoryReadAnswer,
  type HistoryRules,
  type HistoryScanAnswer,
  historyDigestBytes,
  historyPageEntries,
  historyReadBytes,
  historyReadFiles,
  type ScannedEntry,
} from '@roost/contracts/link/history'
import { atOnce } from '../kit/at-once.ts'
import type { Clock } from '../kit/clock.ts'
import { LinkFault } from '../link/link.ts'
import type { Scan, Scanner } from './scan.ts'
import type { Changed, Mark, Writers } from './writers.ts'

/** The platform's requests about the history of this workspace. There is one scan at a time. */
export type History = {
  scan(
    rules: HistoryRules,
    bases: readonly string[],
    isFull?: boolean,
    untouchedSince?: number | null,
  ): Promise<HistoryScanAnswer>
  page(handle: string, offset: number): HistoryPageAnswer
  digest(handle: string, at: readonly number[]): Promise<HistoryDigestAnswer>
  read(handle: string, at: readonly number[], offset: number): Promise<HistoryReadAnswer>
  commit(handle: string, record: string): Promise<void>
  /** Unknown handles are ignored; without a handle, any scan is closed. */
  close(handle?: string): Promise<void>
}

export type HistoryDeps = {
  scanner: Scanner
  writers: Writers
  /** The SSH server starts processes that this program does not see. */
  mayLogIn(): Promise<boolean>
  clock: Pick<Clock, 'after'>
}

type Open = {
  handle: string
  scan: Scan
  mark: Mark
  rules: string
  left_out: HistoryScanAnswer['left_out']
  reading: Reading | null
  cancel(): void
}
/** A content that was read up to `offset`. */
type Reading = { at: number; offset: number; content: AsyncGenerator<Buffer>; rest: Buffer }

/** The platform asks again within seconds, unless it is gone. */
const idleMs = 5 * 60_000
/** Names in one answer: they may need six bytes per character. */
const pageCharacters = 500_000
/** A file takes several short calls of the system, so several small files are read at the same time. */
const maxConcurrentReads = 4
const smallFileBytes = 64 * 1024

export function createHistory({ scanner, writers, mayLogIn, clock }: HistoryDeps): History {
  let open: Open | null = null
  /** Listings run one after another. */
  let listing: Promise<unknown> = Promise.resolve()
  /** What was recorded last, for scans that can be skipped. */
  let last: { record: string; rules: string; left_out: HistoryScanAnswer['left_out'] } | null = null

  async function begin(
    rules: HistoryRules,
    bases: readonly string[],
    isFull: boolean,
    untouchedSince: number | null,
  ): Promise<HistoryScanAnswer> {
    await close()
    writers.allowLogins(await mayLogIn())
    const text = JSON.stringify(rules)
    const known = last?.rules === text && bases.includes(last.record) ? last : null
    const possible = known ? await writers.mayHaveChanged() : 'all'
    const changed = isFull && possible === 'hidden' ? 'all' : possible
    const mark = writers.mark()
    if (known && (await isSame(known.record, rules, changed))) {
      if (changed !== 'nothing') writers.recorded(mark)
      return { handle: null, base: known.record, left_out: known.left_out }
    }
    const scan = await scanner.scan(rules, bases, {
      extent: changed === 'hidden' ? 'hidden' : 'all',
      untouchedSince,
    })
    const left_out = scan.leftOut
    if (scan.base !== null && scan.gone.length + scan.came.length === 0) {
      // Stores the listing, because what is left out may differ.
      try {
        await scan.commit(scan.base)
      } finally {
        scan[Symbol.dispose]()
      }
      writers.recorded(mark)
      last = { record: scan.base, rules: text, left_out }
      return { handle: null, base: scan.base, left_out }
    }
    open = { handle: randomUUID(), scan, mark, rules: text, left_out, reading: null, cancel: () => {} }
    touch(open)
    const { untouchedCount: count } = scan
    const untouched = count === null ? undefined : { from: scan.came.length - count, count }
    const sum = scan.came.reduce((total, { size }) => total + size, 0)
    const bytes = Math.min(sum, Number.MAX_SAFE_INTEGER)
    return { handle: open.handle, base: scan.base, left_out, bytes, ...(untouched && { untouched }) }
  }

  async function isSame(record: string, rules: HistoryRules, changed: Changed): Promise<boolean> {
    if (changed === 'hidden') return scanner.isHiddenAsIn(record, rules)
    return changed === 'nothing'
  }

  function touch(each: Open): void {
    each.cancel()
    each.cancel = clock.after(idleMs, () => void close(each.handle))
  }

  function find(handle: string): Open {
    if (open?.handle !== handle)
      throw new LinkFault('file_not_found', 'The scan does not exist or has ended.')
    touch(open)
    return open
  }

  function entryAt({ scan }: Open, at: number): ScannedEntry {
    const entry = scan.came[at]
    if (!entry || entry.kind === 'folder')
      throw new LinkFault('invalid_message', `The entry ${at} has no content.`)
    return entry
  }

  /** The first of these entries, up to `maxBytes` together and `maxEach` each, as they were listed. */
  function leading(
    each: Open,
    at: readonly number[],
    { maxBytes, maxEach }: { maxBytes: number; maxEach: number },
  ): number[] {
    let bytes = 0
    const end = at.findIndex((index) => {
      const { size } = entryAt(each, index)
      bytes += size
      return bytes > maxBytes || size > maxEach
    })
    return end === -1 ? [...at] : at.slice(0, end)
  }

  /** Reads several entries at the same time. Ends before the first one that no longer fits into the answer. */
  async function wholeParts(each: Open, at: readonly number[]): Promise<HistoryPart[]> {
    let room = historyReadBytes
    const parts = await atOnce(at, maxConcurrentReads, async (index): Promise<HistoryPart | null> => {
      const chunks: Buffer[] = []
      try {
        for await (const chunk of each.scan.content(entryAt(each, index))) {
          room -= chunk.length
          if (room < 0) return null
          chunks.push(chunk)
        }
      } catch {
        return { at: index, data_base64: '', state: 'failed' }
      }
      return { at: index, data_base64: Buffer.concat(chunks).toString('base64'), state: 'end' }
    })
    const end = parts.indexOf(null)
    return (end === -1 ? parts : parts.slice(0, end)).filter((part) => part !== null)
  }

  /** Continues at `offset`, or starts from the beginning. */
  async function readingOf(each: Open, at: number, offset: number): Promise<Reading> {
    const { reading } = each
    if (reading?.at === at && reading.offset === offset) return reading
    if (offset !== 0) throw new LinkFault('invalid_message', 'The content does not continue at this offset.')
    await reading?.content.return(undefined)
    each.reading = { at, offset: 0, content: each.scan.content(entryAt(each, at)), rest: Buffer.alloc(0) }
    return each.reading
  }

  async function partOf(each: Open, at: number, offset: number, room: number): Promise<HistoryPart> {
    const reading = await readingOf(each, at, offset)
    const chunks: Buffer[] = []
    let size = 0
    let state: HistoryPart['state'] = 'more'
    try {
      while (size < room) {
        const { value, done } =
          reading.rest.length > 0 ? { value: reading.rest, done: false } : await reading.content.next()
        if (done || value === undefined) {
          state = 'end'
          break
        }
        const taken = value.subarray(0, room - size)
        reading.rest = value.subarray(taken.length)
        chunks.push(taken)
        size += taken.length
      }
    } catch {
      return { at, data_base64: '', state: 'failed' }
    }
    reading.offset += size
    return { at, data_base64: Buffer.concat(chunks).toString('base64'), state }
  }

  async function close(handle?: string): Promise<void> {
    const closed = open
    if (!closed || (handle !== undefined && closed.handle !== handle)) return
    open = null
    closed.cancel()
    await closed.reading?.content.return(undefined).catch(() => {})
    closed.scan[Symbol.dispose]()
  }

  return {
    scan(rules, bases, isFull = false, untouchedSince = null) {
      const next = listing.then(() => begin(rules, bases, isFull, untouchedSince))
      listing = next.catch(() => {})
      return next
    },
    page(handle, offset) {
      const { gone, came } = find(handle).scan
      const answer: HistoryPageAnswer = { gone: [], came: [] }
      let characters = 0
      const hasRoom = () =>
        answer.gone.length + answer.came.length < historyPageEntries && characters < pageCharacters
      for (let at = offset; at < gone.length && hasRoom(); at += 1) {
        const path = gone[at] ?? ''
        characters += path.length
        answer.gone.push(path)
      }
      const first = Math.max(0, offset + answer.gone.length - gone.length)
      if (offset + answer.gone.length < gone.length) return answer
      for (let at = first; at < came.length && hasRoom(); at += 1) {
        const entry = came[at]
        if (!entry || entry.untouched !== came[first]?.untouched) break
        characters += entry.path.length + (entry.from?.length ?? 0) + 50
        answer.came.push(entry)
      }
      return answer
    },
    async digest(handle, at) {
      const each = find(handle)
      const asked = at.slice(0, historyReadFiles)
      const some = leading(each, asked, { maxBytes: historyDigestBytes, maxEach: Number.POSITIVE_INFINITY })
      // A single file may be larger.
      const digested = some.length > 0 ? some : asked.slice(0, 1)
      const digests = await atOnce(digested, maxConcurrentReads, (index) =>
        each.scan.digest(entryAt(each, index)).catch(() => null),
      )
      return { digests }
    },
    async read(handle, at, offset) {
      const each = find(handle)
      const asked = at.slice(0, historyReadFiles)
      const [first] = asked
      if (first === undefined) return { parts: [] }
      const limits = { maxBytes: historyReadBytes / 2, maxEach: smallFileBytes }
      const small = offset === 0 ? leading(each, asked, limits) : []
      const parts = await wholeParts(each, small)
      return { parts: parts.length > 0 ? parts : [await partOf(each, first, offset, historyReadBytes)] }
    },
    async commit(handle, record) {
      const { scan, mark, rules, left_out } = find(handle)
      await scan.commit(record)
      writers.recorded(mark)
      last = { record, rules, left_out }
      await close(handle)
    },
    close,
  }
}
