import {
  type HistoryPart,
  historyReadFiles,
  type LeftOutPath,
  type ScannedEntry,
} from '@roost/contracts/link/history'
import type { AgentLink, PlatformCallName, PlatformRequest } from '../../ports/agent-link/port.ts'
import type { Draft, StoredEntry } from '../../ports/workspace-history/port.ts'
import type { Omissions } from './omissions.ts'

/** The agent's answers contradict each other. */
export class InvalidAnswer extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'InvalidAnswer'
  }
}

class Unreadable extends Error {}

export type PullOptions = {
  agentId: string
  handle: string
  /** `compared`: the scan is the difference to the draft's base. Null: the draft is empty. */
  base: 'compared' | AssumedBase | null
  /** See `HistoryScanAnswer`; null if the agent was not asked. */
  untouched: { from: number; count: number } | null
  draft: Omit<Draft, 'commit'>
  link: Pick<AgentLink, 'call'>
  signal: AbortSignal
}

/** The scan has the whole workspace. The draft's base is probably similar, so equal contents are not sent. */
export type AssumedBase = {
  /** Every path of the base, folders before their content. */
  paths(): AsyncIterable<string>
  /** Contents of the base at these paths are not used. */
  isWithheld(path: string): boolean
  /** Null unless the workspace was created from the base: files that the agent reports as untouched are then taken. */
  origin: {
    omitted: Omissions
    /** What the base has at these paths. */
    entries(paths: readonly string[]): Promise<(StoredEntry | null)[]>
  } | null
}

/** Each entry takes memory until its record is stored. */
const maxEntries = 300_000
/** Entries of a layered fork that are looked for in its base. */
const maxCompared = 20_000
/** Of larger files that changed, the digest is compared before the content is sent. */
const minDigestBytes = 1024 * 1024

/** Copies the difference of a scan into a draft. Returns paths that could no longer be read. */
export async function pullScan(options: PullOptions): Promise<LeftOutPath[]> {
  const { draft, base } = options
  const leftOut: LeftOutPath[] = []
  const assumed = base === 'compared' ? null : base
  /** Kinds by path. */
  const seen = assumed && new Map<string, ScannedEntry['kind']>()
  let gone = 0
  let came = 0
  for (;;) {
    const page = await callOf(options)('history.page', { handle: options.handle, offset: gone + came })
    if (page.gone.length + page.came.length === 0) break
    if (gone + came + page.gone.length + page.came.length > maxEntries)
      throw new InvalidAnswer('The scan has too many entries.')
    if (page.gone.length > 0 && (came > 0 || base !== 'compared'))
      throw new InvalidAnswer('Removed paths must come first, and only with a base.')
    gone += page.gone.length
    for (const path of page.gone) await draft.remove(path)
    const files = new Map<number, ScannedEntry>()
    for (const [index, entry] of page.came.entries()) {
      seen?.set(entry.path, entry.kind)
      if (entry.kind === 'folder') await draft.folder(entry)
      else files.set(came + index, entry)
    }
    came += page.came.length
    await keepEqual(options, files)
    await pullContents(options, files, leftOut)
    if (assumed && seen && came === options.untouched?.from) {
      if (await isRestUntouched(assumed, seen, options.untouched.count)) {
        await removeOmitted(assumed, seen, draft)
        return leftOut
      }
    }
  }
  if (assumed) for await (const path of assumed.paths()) if (!seen?.has(path)) await draft.remove(path)
  return leftOut
}

/**
 * Whether the workspace has every entry of its base that was taken, so that the untouched ones need not be read. Each of
 * them is one of these, because nothing else was there before the program.
 */
async function isRestUntouched(
  { origin, isWithheld }: AssumedBase,
  seen: ReadonlyMap<string, ScannedEntry['kind']>,
  untouchedCount: number,
): Promise<boolean> {
  const paths = [...seen.keys()].filter((path) => path !== '' && !isWithheld(path))
  if (!origin || paths.length > maxCompared) return false
  const found = await origin.entries(paths)
  const isFolder = (kind: ScannedEntry['kind'] | undefined) => kind === 'folder'
  const same = found.filter((entry) => entry && isFolder(entry.kind) === isFolder(seen.get(entry.path)))
  return same.length + untouchedCount === origin.omitted.takenCount
}

async function removeOmitted(
  { origin, paths, isWithheld }: AssumedBase,
  seen: ReadonlyMap<string, ScannedEntry['kind']>,
  draft: PullOptions['draft'],
): Promise<void> {
  const omitted = [...(origin?.omitted.paths ?? [])]
  for (const path of omitted) if (!seen.has(path)) await draft.remove(path)
  // A new folder at the path of an omitted one has its own content.
  if (!omitted.some((path) => seen.get(path) === 'folder')) return
  for await (const path of paths()) if (isWithheld(path) && !seen.has(path)) await draft.remove(path)
}

function callOf({ link, agentId, signal }: PullOptions) {
  return <T extends PlatformCallName>(t: T, request: PlatformRequest<T>) =>
    link.call(agentId, t, request, { signal })
}

/** Takes equal contents from the base, and removes their files from those that the agent has to send. */
async function keepEqual(options: PullOptions, files: Map<number, ScannedEntry>): Promise<void> {
  const { base, draft, handle } = options
  if (base === null) return
  const mayEqual = ({ path, size }: ScannedEntry) =>
    base === 'compared' ? size >= minDigestBytes : !base.isWithheld(path)
  let asked = [...files].filter(([, entry]) => mayEqual(entry))
  if (base !== 'compared' && base.origin) {
    const untouched = asked.filter(([, entry]) => entry.untouched)
    const isKept = await draft.keepUntouched(untouched.map(([, entry]) => entry))
    for (const [index, [place]] of untouched.entries()) if (isKept[index]) files.delete(place)
    asked = asked.filter(([place]) => files.has(place))
  }
  while (asked.length > 0) {
    const at = asked.slice(0, historyReadFiles).map(([index]) => index)
    const { digests } = await callOf(options)('history.digest', { handle, at })
    if (digests.length === 0 || digests.length > at.length)
      throw new InvalidAnswer('The digests do not belong to the request.')
    for (const [index, digest] of digests.entries()) {
      const [place, entry] = asked[index] ?? []
      if (place === undefined || !entry || digest === null) continue
      const from = base === 'compared' ? (entry.from ?? entry.path) : entry.path
      if (await draft.keep(entry, digest, from)) files.delete(place)
    }
    asked = asked.slice(digests.length)
  }
}

async function pullContents(
  options: PullOptions,
  files: ReadonlyMap<number, ScannedEntry>,
  leftOut: LeftOutPath[],
): Promise<void> {
  const parts = partsOf(options, [...files.keys()])
  try {
    for (const [at, entry] of files) {
      try {
        await options.draft.put(entry, contentOf(parts, at))
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
        await options.draft.remove(entry.path)
        leftOut.push({ path: entry.path, reason: 'unreadable' })
      }
    }
  } finally {
    await parts.return(undefined)
  }
}

/** Reads contents in this order. The next answer is requested while the last one is stored. */
async function* partsOf(options: PullOptions, files: readonly number[]): AsyncGenerator<HistoryPart> {
  let next = 0
  let offset = 0
  const ask = () =>
    next < files.length
      ? callOf(options)('history.read', {
          handle: options.handle,
          at: files.slice(next, next + historyReadFiles),
          offset,
        })
      : null
  let coming = ask()
  while (coming) {
    const { parts } = await coming
    if (parts.length === 0) throw new InvalidAnswer('An answer has no contents.')
    for (const part of parts) {
      if (part.at !== files[next]) throw new InvalidAnswer('The contents are not in the requested order.')
      const bytes = Buffer.byteLength(part.data_base64, 'base64')
      if (part.state === 'more' && (bytes === 0 || part !== parts.at(-1)))
        throw new InvalidAnswer('An incomplete content must end its answer.')
      offset = part.state === 'more' ? offset + bytes : 0
      if (part.state !== 'more') next += 1
    }
    coming = ask()
    // Its error is thrown when it is awaited.
    coming?.catch(() => {})
    yield* parts
  }
}

async function* contentOf(parts: AsyncGenerator<HistoryPart>, at: number): AsyncGenerator<Buffer> {
  for (;;) {
    const { value, done } = await parts.next()
    if (done || value.at !== at) throw new InvalidAnswer('A content is missing.')
    if (value.state === 'failed') throw new Unreadable()
    const bytes = Buffer.from(value.data_base64, 'base64')
    if (bytes.length > 0) yield bytes
    if (value.state === 'end') return
  }
}
