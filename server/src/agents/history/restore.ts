import type { HistoryRules } from '@roost/contracts/link/history'
import {
  type RestoreChange,
  type RestoreLookAnswer,
  restorePieceBytes,
  restorePieces,
} from '@roost/contracts/link/history-restore'
import { fileChunkBytes, type PlatformCalls } from '@roost/contracts/link/messages'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import {
  type AgentLink,
  LinkDown,
  LinkFault,
  LinkTimeout,
  type PlatformCallName,
  type PlatformRequest,
} from '../../ports/agent-link/port.ts'
import type { RecordId, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { pagesOf, selectionOf, targetOf } from './restore-target.ts'

export type RestoreDeps = {
  link: Pick<AgentLink, 'call'>
  history: Pick<WorkspaceHistory, 'list' | 'readAll'>
  clock: Clock
}

export type RestoreOptions = {
  /** Id of this try at the agent, by which its outcome can be requested later: small letters, digits and dashes. */
  restoreId: string
  agentId: string
  /** The agent's name in the store; its own records make the comparison fast. */
  storeAgent: string
  /** Its existence and the right to read it were checked. */
  source: RecordId
  /** Selected paths, as bytes in characters (latin1). The empty path means everything. */
  paths: readonly string[]
  /** `joinedRules` of the record and the agent. */
  rules: HistoryRules
  /** Paths that the record names as left out. */
  leftOut: readonly string[]
  signal?: AbortSignal
}

export type RestoreSummary = Omit<RestoreLookAnswer, 'state' | 'fault'>
/** `changes` are the first ones by path. */
export type RestorePreview = RestoreSummary & { changes: RestoreChange[]; total: number }

/**
 * `restored`: the paths are as in the record, except for the conflicts. `unchanged`: nothing was done. `applying`: the
 * agent completes it, but has a fault now, such as a full disk.
 */
export type RestoreEnd = RestoreSummary & {
  outcome: 'restored' | 'unchanged' | 'applying'
  fault: string | null
}

/** The link broke after the agent was told to apply. Ask `restoreEnd` once the agent is connected again. */
export class RestoreUnsettled extends Error {
  constructor(cause: unknown) {
    super('The agent did not say whether the restore is complete.', { cause })
    this.name = 'RestoreUnsettled'
  }
}

const maxPreviewChanges = 1000
/** An agent lists at most 64 MB of names. */
const maxEntries = 700_000
/** The last try overwrites what other processes write meanwhile. */
const maxTries = 3
/** Every file may have to be read. */
const limitMs = 30 * 60_000
const pauseMs = 100

/** Shows what a restore would do. The workspace is not changed. */
export async function previewRestore(deps: RestoreDeps, options: RestoreOptions): Promise<RestorePreview> {
  const call = callOf(deps, options)
  try {
    const summary = await compare(deps, options)
    const changes: RestoreChange[] = []
    for (let total = 1; changes.length < Math.min(total, maxPreviewChanges); ) {
      const page = await call('history.restore.changes', { offset: changes.length })
      if (page.changes.length === 0) break
      changes.push(...page.changes)
      total = page.total
    }
    return { ...summary, changes: changes.slice(0, maxPreviewChanges), total: changesIn(summary) }
  } catch (error) {
    throw asFault(error)
  } finally {
    await call('history.restore.close', {}, false).catch(() => {})
  }
}

/**
 * Restores the paths. The caller holds the agent's turn in the history until this returns, and has made sure that no run
 * works. `record` records the workspace, so that the restore can be undone; it is called before each try. Until the
 * agent applies the restore, every error means that nothing has changed.
 */
export async function applyRestore(
  deps: RestoreDeps,
  options: RestoreOptions,
  record: () => Promise<void>,
): Promise<RestoreEnd> {
  const call = callOf(deps, options)
  for (let attempt = 1; ; attempt += 1) {
    await record()
    let isApplied = false
    try {
      const summary = await compare(deps, options)
      if (changesIn(summary) === 0) {
        await call('history.restore.close', {}, false)
        return { ...summary, outcome: 'unchanged', fault: null }
      }
      await sendContents(deps, options)
      options.signal?.throwIfAborted()
      // From here on only the agent decides, so its answer must be awaited.
      isApplied = true
      await call('history.restore.apply', { overwrite: attempt === maxTries }, false)
      const { state, ...rest } = await settled(deps, options, false)
      if (state === 'restored' || state === 'applying') return { ...rest, outcome: state }
      if (state !== 'moved') return { ...rest, outcome: 'unchanged' }
    } catch (error) {
      if (isApplied && !(error instanceof LinkFault)) throw new RestoreUnsettled(error)
      await call('history.restore.close', {}, false).catch(() => {})
      throw asFault(error)
    }
  }
}

/**
 * How a restore ended that `RestoreUnsettled` was thrown for, or that was interrupted by the end of the platform. The
 * agent also completes what a full disk interrupted. Throws while the agent cannot be asked.
 */
export async function restoreEnd(
  deps: RestoreDeps,
  { agentId, restoreId }: Pick<RestoreOptions, 'agentId' | 'restoreId'>,
): Promise<RestoreEnd> {
  const close = () => callOf(deps, { agentId, restoreId })('history.restore.close', {}, false)
  try {
    // What is not applied must not be applied later by a process that was frozen.
    await close()
    let answer = await settled(deps, { agentId, restoreId }, false)
    if (answer.state === 'compared') {
      await close()
      answer = await settled(deps, { agentId, restoreId }, false)
    }
    const { state, ...rest } = answer
    return { ...rest, outcome: state === 'restored' || state === 'applying' ? state : 'unchanged' }
  } catch (error) {
    throw asFault(error)
  }
}

async function compare(deps: RestoreDeps, options: RestoreOptions): Promise<RestoreSummary> {
  const { storeAgent, source, paths, rules, leftOut } = options
  const call = callOf(deps, options)
  const { base } = await call('history.restore.open', { paths: [...paths], rules })
  const known = base === null ? null : { agent: storeAgent, record: base }
  const target = targetOf(deps.history, source, known, paths)
  for await (const left_out of pagesOf(leftOut, (path) => path.length))
    await call('history.restore.target', { entries: [], left_out })
  for await (const entries of pagesOf(target, ({ path }) => path.length))
    await call('history.restore.target', { entries, left_out: [] })
  await call('history.restore.compare', {})
  const { state, fault, ...summary } = await settled(deps, options, true)
  if (state !== 'compared') throw new Fault('conflict', reported(fault))
  return summary
}

function changesIn({ added, changed, attributes, deleted }: RestoreSummary): number {
  return added + changed + attributes + deleted
}

/** Waits until the agent no longer works on it. */
async function settled(
  deps: RestoreDeps,
  options: Pick<RestoreOptions, 'agentId' | 'restoreId' | 'signal'>,
  maybeAborted: boolean,
): Promise<RestoreLookAnswer> {
  const { clock } = deps
  for (const giveUpAt = clock.now().getTime() + limitMs; ; ) {
    const answer = await callOf(deps, options)('history.restore.look', {}, maybeAborted)
    if (answer.state !== 'comparing' && (answer.state !== 'applying' || answer.fault !== null)) return answer
    if (clock.now().getTime() > giveUpAt) throw new LinkTimeout()
    // A correct agent waits before it answers. This limits requests to a faulty one.
    await clock.wait(pauseMs, maybeAborted ? options.signal : undefined)
  }
}

async function sendContents(deps: RestoreDeps, options: RestoreOptions): Promise<void> {
  const call = callOf(deps, options)
  for (let offset = 0; ; ) {
    const { needs, total } = await call('history.restore.needs', { offset })
    if (needs.length === 0 || offset + needs.length > maxEntries) return
    // The next message is made while the agent writes the previous one.
    let sent: Promise<unknown> = Promise.resolve()
    for await (const pieces of messagesOf(piecesOf(deps, options, needs))) {
      await sent
      sent = call('history.restore.write', { pieces })
      // The next `await` throws its failure.
      sent.catch(() => {})
    }
    await sent
    offset += needs.length
    if (offset >= total) return
  }
}

type Piece = { content: string; offset: number; bytes: Buffer; last: boolean }

/** The agent names paths; it gets nothing but the record at the selected ones. */
async function* piecesOf(
  { history }: RestoreDeps,
  { source, paths }: RestoreOptions,
  needs: readonly { content: string; path: string }[],
): AsyncGenerator<Piece> {
  const selection = selectionOf(paths)
  const refuse = () => new Fault('conflict', 'The agent asks for a file that the record does not have.')
  if (!needs.every(({ path }) => selection.has(path))) throw refuse()
  for await (const { item, pieces } of history.readAll(source, needs)) {
    if (!pieces) throw refuse()
    const { content } = item
    let offset = 0
    let held: Buffer | null = null
    for await (const bytes of chunksOf(pieces)) {
      if (held) {
        yield { content, offset, bytes: held, last: false }
        offset += held.length
      }
      held = bytes
    }
    yield { content, offset, bytes: held ?? Buffer.alloc(0), last: true }
  }
}

/** Pieces of one size, so that blocks of zeros keep their place in them. */
async function* chunksOf(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunk = Buffer.allocUnsafe(fileChunkBytes)
  let filled = 0
  for await (const bytes of content) {
    for (let at = 0; at < bytes.length; ) {
      const copied = bytes.copy(chunk, filled, at)
      at += copied
      filled += copied
      if (filled < chunk.length) continue
      yield chunk
      chunk = Buffer.allocUnsafe(fileChunkBytes)
      filled = 0
    }
  }
  if (filled > 0) yield Buffer.from(chunk.subarray(0, filled))
}

async function* messagesOf(pieces: AsyncIterable<Piece>) {
  let message: { content: string; offset: number; data_base64: string; last: boolean }[] = []
  let size = 0
  for await (const { bytes, ...piece } of pieces) {
    if (message.length >= restorePieces || (message.length > 0 && size + bytes.length > restorePieceBytes)) {
      yield message
      message = []
      size = 0
    }
    message.push({ ...piece, data_base64: bytes.toString('base64') })
    size += bytes.length
  }
  if (message.length > 0) yield message
}

function callOf(
  { link }: Pick<RestoreDeps, 'link'>,
  { agentId, restoreId, signal }: Pick<RestoreOptions, 'agentId' | 'restoreId' | 'signal'>,
) {
  type RestoreCall = Extract<PlatformCallName, `history.restore.${string}`>
  return <T extends RestoreCall>(
    t: T,
    request: Omit<PlatformRequest<T>, 'restore_id'>,
    maybeAborted = true,
  ): Promise<PlatformCalls[T]['answer']> => {
    const complete = { ...request, restore_id: restoreId } as unknown as PlatformRequest<T>
    return link.call(agentId, t, complete, maybeAborted && signal ? { signal } : {})
  }
}

function asFault(error: unknown): unknown {
  if (error instanceof LinkDown || error instanceof LinkTimeout)
    return new Fault('agent_unresponsive', undefined, {}, { cause: error })
  if (!(error instanceof LinkFault)) return error
  if (error.code === 'unknown_message')
    return new Fault('agent_program_outdated', undefined, {}, { cause: error })
  return new Fault('conflict', reported(error.message), {}, { cause: error })
}

/** The agent's words are untrusted. */
function reported(text: string | null): string {
  return `The workspace reports: ${(text ?? 'no reason').slice(0, 500).replaceAll(/\p{Cc}/gu, ' ')}`
}
