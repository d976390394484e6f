import { createHash } from 'node:crypto'
import { closeSync, fstatSync } from 'node:fs'
import {
  type HistoryEntry,
  type HistoryRules,
  type LeftOutPath,
  type LeftOutReason,
  maxLeftOutPaths,
  parentOf,
  type ScannedEntry,
} from '@roost/contracts/link/history'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import type { Identities } from '../processes/identity.ts'
import { type Beneath, openBeneath, readDescriptor } from './beneath.ts'
import { compareListings } from './compare.ts'
import { readIndex, writeIndex } from './index-file.ts'
import {
  encoding,
  type Listed,
  type Listing,
  listHidden,
  listParts,
  listSteadyFolders,
  markDoubtful,
  parseLine,
  pathOfLine,
} from './listing.ts'

/** Compares the workspace with its last record. */
export type Scanner = {
  /**
   * `bases` are records that the platform has of this agent. If the index belongs to none of them, everything counts as
   * new, and files that did not change since `untouchedSince` (milliseconds) are marked. `hidden`: only the hidden part of
   * the workspace may differ from the index.
   */
  scan(
    rules: HistoryRules,
    bases: readonly string[],
    options?: { extent?: 'all' | 'hidden'; untouchedSince?: number | null },
  ): Promise<Scan>
  /** True if the hidden part of the workspace is as in the record, made by the same rules. False may mean unknown. */
  isHiddenAsIn(record: string, rules: HistoryRules): Promise<boolean>
}

/** The difference to the base. The contents are read while the scan is open. */
export type Scan = {
  /** Null if everything is new. */
  base: string | null
  /** Paths of the base that are no longer recorded. */
  gone: string[]
  /** New and changed entries, folders before their content. The root has the empty path. Untouched entries come last. */
  came: ScannedEntry[]
  /** Number of untouched entries; null unless they were asked for. */
  untouchedCount: number | null
  leftOut: { paths: LeftOutPath[]; count: number }
  /** Content of a file or target of a link, in chunks. Throws if there is none any more. */
  content(entry: HistoryEntry): AsyncGenerator<Buffer>
  /** SHA-256 of the content, in the form of git's objects. Throws as `content`. */
  digest(entry: HistoryEntry): Promise<string>
  /** The platform has stored this scan as a record, or a record equals it. */
  commit(record: string): Promise<void>
  [Symbol.dispose](): void
}

export type ScannerDeps = {
  home: string
  /** A file of this program. */
  file: string
  identities: Identities
  clock: Pick<Clock, 'now' | 'after'>
}

const maxHeldBytes = 1024 * 1024
/** Two changes within one tick of the kernel's clock get the same time. It ticks at least 100 times a second. */
const tickNs = 20_000_000n

export function createScanner({ home, file, identities, clock }: ScannerDeps): Scanner {
  const isOwners = (uid: number) => uid === identities.developer.uid || uid === 0
  /** The hidden part of the last record that this program made, unless it is large. */
  let last: { record: string; hidden: Buffer } | null = null

  /** Files keep their times when a folder above them is moved. The root cannot be moved. */
  async function untouchedTest(rules: HistoryRules, sinceNs: bigint): Promise<(entry: Listed) => boolean> {
    const steady = await listSteadyFolders(home, rules, identities, sinceNs)
    return ({ path, kind, changed }) => {
      if (kind === 'folder' || changed > sinceNs) return false
      for (let each = parentOf(path); each !== ''; each = parentOf(each)) if (!steady.has(each)) return false
      return true
    }
  }

  return {
    async isHiddenAsIn(record, rules) {
      if (last?.record !== record) return false
      return last.hidden.equals(await listHidden(home, rules, identities))
    },
    async scan(rules, bases, { extent = 'all', untouchedSince = null } = {}) {
      const beganAt = BigInt(Math.floor(clock.now())) * 1_000_000n
      const index = bases.length === 0 ? null : await readIndex(file)
      const known = index && bases.includes(index.record) ? index : null
      const isPart = extent === 'hidden' && known !== null && known.hiddenBytes > 0
      const knownRest = isPart ? known.listing.subarray(known.hiddenBytes) : undefined
      const { hidden, rest } = await listParts(home, rules, identities, knownRest)
      const listing = Buffer.concat([hidden, rest])
      const { gone, came } = isPart
        ? compareListings(known.listing.subarray(0, known.hiddenBytes), hidden)
        : compareListings(known?.listing ?? Buffer.alloc(0), listing)
      const listed = new Map<string, Listed & { at: number }>()
      for (const { line, at } of came) {
        const entry = parseLine(line, isOwners)
        if (entry) listed.set(entry.path, { ...entry, at })
      }
      const unsettled = new Set<string>()
      for (const { path, changed } of listed.values()) if (changed >= beganAt - tickNs) unsettled.add(path)
      const earlier = earlierPaths(gone)
      const isUntouched =
        known || untouchedSince === null
          ? null
          : await untouchedTest(rules, BigInt(Math.floor(untouchedSince)) * 1_000_000n - tickNs)
      const entries = [...listed.values()].map((entry) =>
        toEntry(entry, earlier, isUntouched?.(entry) ?? false),
      )
      const untouched = entries.filter((entry) => entry.untouched)
      const opened = openBeneath(home)
      const content = (entry: HistoryEntry) => read(opened, { listed, unsettled, clock }, entry)
      return {
        base: known?.record ?? null,
        gone: gone
          .filter((line) => !line.startsWith('x '))
          .map(pathOfLine)
          .filter((path) => !listed.has(path)),
        came: untouched.length > 0 ? [...entries.filter((entry) => !entry.untouched), ...untouched] : entries,
        untouchedCount: isUntouched && untouched.length,
        leftOut: leftOutOf(listing),
        content,
        digest: (entry) => digestOf(entry, content(entry)),
        async commit(record) {
          for (const path of unsettled) markDoubtful(listing, listed.get(path)?.at ?? 0)
          const isStored =
            known?.record === record && known.hiddenBytes === hidden.length && known.listing.equals(listing)
          if (!isStored) await writeIndex(file, { record, listing, hiddenBytes: hidden.length })
          const isSmall = hidden.length <= maxHeldBytes
          last = isSmall ? { record, hidden: Buffer.from(listing.subarray(0, hidden.length)) } : null
        },
        [Symbol.dispose]: () => opened[Symbol.dispose](),
      }
    },
  }
}

function toEntry(
  { path, kind, mode, owner, size, sparse, inode }: Listed,
  earlier: ReadonlyMap<string, string>,
  isUntouched: boolean,
): ScannedEntry {
  const from = kind === 'file' ? earlier.get(`${inode} ${size}`) : undefined
  return {
    ...{ path, kind, mode, owner, size, sparse },
    ...(from === undefined ? {} : { from }),
    ...(isUntouched ? { untouched: true } : {}),
  }
}

/** Files of the base that moved or changed, by inode and size. */
function earlierPaths(gone: readonly string[]): Map<string, string> {
  const paths = new Map<string, string>()
  for (const line of gone) {
    const entry = parseLine(line.replace(/^F/, 'f'), () => true)
    if (entry?.kind === 'file') paths.set(`${entry.inode} ${entry.size}`, entry.path)
  }
  return paths
}

type Reading = {
  listed: ReadonlyMap<string, Listed>
  /** Paths whose content may change without a new time, or was not read completely. */
  unsettled: Set<string>
  clock: ScannerDeps['clock']
}

async function* read(
  opened: Beneath,
  { listed, unsettled, clock }: Reading,
  { path, kind }: HistoryEntry,
): AsyncGenerator<Buffer> {
  if (kind === 'link') {
    yield opened.target(path)
    return
  }
  const known = listed.get(path)
  if (!known) throw new Error('The path is not part of the scan.')
  // A change from now on has a later time.
  const isPast = await tickPassed(known.changed, clock)
  // Unless it is read completely.
  unsettled.add(path)
  const file = opened.open(path)
  try {
    const before = stateOf(file, opened.device)
    // What is appended meanwhile changes its time.
    for (let offset = 0; offset < before.size; ) {
      const buffer = Buffer.allocUnsafe(Math.min(fileChunkBytes, before.size - offset))
      const { bytesRead } = await readDescriptor(file, buffer, 0, buffer.length, offset)
      if (bytesRead === 0) break
      offset += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
    const after = stateOf(file, opened.device)
    const isSettled =
      before.inode === known.inode && [before, after].every(({ changed }) => changed === known.changed)
    if (isSettled && isPast) unsettled.delete(path)
  } finally {
    closeSync(file)
  }
}

/** Waits for the end of the tick of a change. Returns false for a time in the future. */
async function tickPassed(changed: bigint, clock: ScannerDeps['clock']): Promise<boolean> {
  const restMs = () => Number(changed + tickNs) / 1e6 - clock.now()
  if (restMs() > 2 * Number(tickNs / 1_000_000n)) return false
  while (restMs() >= 0) await new Promise<void>((resolve) => clock.after(Math.ceil(restMs()) + 1, resolve))
  return true
}

/** Throws for anything but a file of the workspace's own file system. */
function stateOf(file: number, device: bigint): { inode: bigint; changed: bigint; size: number } {
  const found = fstatSync(file, { bigint: true })
  if (!found.isFile() || found.dev !== device) throw new Error('The path is no longer a file.')
  return { inode: found.ino, changed: found.ctimeNs, size: Number(found.size) }
}

/** A file may grow while it is read, so its listed size may be wrong. */
async function digestOf(entry: HistoryEntry, content: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256').update(`blob ${entry.size}\0`)
  for await (const chunk of content) hash.update(chunk)
  return hash.digest('hex')
}

/** Paths of a rule come last: the rules name them, too. */
function leftOutOf(listing: Listing): Scan['leftOut'] {
  const ofRules: LeftOutPath[] = []
  const others: LeftOutPath[] = []
  let count = 0
  const start = Buffer.from('\0x ')
  for (let at = listing.indexOf(start); at !== -1; at = listing.indexOf(start, at + 1)) {
    count += 1
    if (others.length >= maxLeftOutPaths) continue
    const line = listing.toString(encoding, at + 1, listing.indexOf(0, at + 1))
    // `find` printed one of the reasons.
    const reason = line.slice(2, line.indexOf(' ', 2)) as LeftOutReason
    const paths = reason === 'rule' ? ofRules : others
    if (paths.length < maxLeftOutPaths) paths.push({ path: pathOfLine(line), reason })
  }
  return { paths: [...others, ...ofRules].slice(0, maxLeftOutPaths), count }
}
