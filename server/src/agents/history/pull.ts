import {
  type HistoryPart,
  historyReadFiles,
  type LeftOutPath,
  type ScannedEntry,
} from '@roost/contracts/link/history'
import type { AgentLink, PlatformCallName, PlatformRequest } from '../../ports/agent-link/port.ts'
import type { Draft } from '../../ports/workspace-history/port.ts'

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
  /** The record that the scan was compared with. */
  base: string | null
  draft: Omit<Draft, 'commit'>
  link: Pick<AgentLink, 'call'>
  signal: AbortSignal
}

/** Each entry takes memory until its record is stored. */
const maxEntries = 300_000
/** Of larger files, the digest is compared before the content is sent. */
const minDigestBytes = 1024 * 1024

/** Copies the difference of a scan into a draft. Returns paths that could no longer be read. */
export async function pullScan(options: PullOptions): Promise<LeftOutPath[]> {
  const { draft, base } = options
  const leftOut: LeftOutPath[] = []
  let gone = 0
  let came = 0
  for (;;) {
    const page = await callOf(options)('history.page', { handle: options.handle, offset: gone + came })
    if (page.gone.length + page.came.length === 0) return leftOut
    if (gone + came + page.gone.length + page.came.length > maxEntries)
      throw new InvalidAnswer('The scan has too many entries.')
    if (page.gone.length > 0 && (came > 0 || base === null))
      throw new InvalidAnswer('Removed paths must come first, and only with a base.')
    gone += page.gone.length
    for (const path of page.gone) await draft.remove(path)
    const files = new Map<number, ScannedEntry>()
    for (const [index, entry] of page.came.entries()) {
      if (entry.kind === 'folder') await draft.folder(entry)
      else if (!(await isKept(options, entry, came + index))) files.set(came + index, entry)
    }
    came += page.came.length
    await pullContents(options, files, leftOut)
  }
}

function callOf({ link, agentId, signal }: PullOptions) {
  return <T extends PlatformCallName>(t: T, request: PlatformRequest<T>) =>
    link.call(agentId, t, request, { signal })
}

async function isKept(options: PullOptions, entry: ScannedEntry, at: number): Promise<boolean> {
  if (options.base === null || entry.size < minDigestBytes) return false
  const { digest } = await callOf(options)('history.digest', { handle: options.handle, at })
  if (digest === null) return false
  return options.draft.keep(entry, digest, entry.from ?? entry.path)
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
