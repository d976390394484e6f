import { posix } from 'node:path'
import {
  type FileEntry,
  maxDownloadBytes,
  maxFileWriteBytes,
  maxListedEntries,
  maxUploadBytes,
  workspaceRoot,
} from '@roost/contracts/agents/workspace'
import { fileChunkBytes, type LinkErrorCode } from '@roost/contracts/link/messages'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import { requireDiskRoom } from '../disk/index.ts'
import type { Agent } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { parseRange } from './content.ts'
import {
  formatPath,
  rejectClosed,
  rejectDelete,
  rejectPack,
  rejectRead,
  rejectWrite,
  resolvePath,
} from './paths.ts'

export type Tree = {
  base_path: string
  requested_path: string
  tree: FileEntry[]
  total_files: number
  truncated: boolean
}

/** A download; `range` is null for the whole file. */
export type Opened = {
  name: string
  size: number
  modified: string
  range: { start: number; end: number } | null
  bytes: AsyncIterable<Uint8Array>
}

/** A path as the caller gave it. `isOwner`: the caller may use the owner's files. */
export type FileRequest = { path: string; isOwner: boolean }

export type Workspace = {
  list(
    agent: Agent,
    request: { path: string; depth: number; show_hidden: boolean },
    signal: AbortSignal,
  ): Promise<Tree>
  save(
    agent: Agent,
    file: FileRequest,
    content: string,
    signal: AbortSignal,
  ): Promise<{ path: string; size: number }>
  /**
   * Saves the bytes of `source` as a file, also with any other content than text. Throws `file_too_large` above
   * 100 MB, and `upload_expired` for a part whose predecessors are no longer stored.
   */
  receive(
    agent: Agent,
    file: FileRequest,
    upload: Upload,
    signal: AbortSignal,
  ): Promise<{ path: string; size: number }>
  /** Never replaces an existing file; the reply contains the final path. */
  upload(
    agent: Agent,
    path: string,
    bytes: Buffer,
    signal: AbortSignal,
  ): Promise<{ path: string; size: number }>
  remove(agent: Agent, file: FileRequest, signal: AbortSignal): Promise<{ path: string }>
  makeDirectory(agent: Agent, folder: FileRequest, signal: AbortSignal): Promise<{ path: string }>
  /** Never replaces an entry: throws `already_exists`. Only the owner moves directories. */
  move(
    agent: Agent,
    request: { from: string; to: string; isOwner: boolean },
    signal: AbortSignal,
  ): Promise<{ path: string }>
  /**
   * Opens a file or, with `directories`, a packed directory. `outside` means that the range is not in the
   * file. Throws `file_not_found`, `file_too_large`, `protected_path`.
   */
  open(
    agent: Agent,
    request: FileRequest & { range: string | undefined; directories: boolean },
    signal: AbortSignal,
  ): Promise<{ kind: 'file' | 'packed'; opened: Opened } | { kind: 'outside'; size: number }>
}

/** `part`: null for a whole file. */
export type Upload = { source: AsyncIterable<Uint8Array>; isExecutable: boolean; part: Part | null }

/** A part of a file. The upload id is that of one person. */
export type Part = { uploadId: string; offset: number; isLast: boolean }

/** `mode`: undefined keeps that of a replaced file. */
type WriteRequest = FileRequest & {
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>
  onConflict: 'replace' | 'rename'
  mode?: number | undefined
  part?: Part | null
}

const executableMode = 0o755
const discardTimeoutMs = 10_000

/** People's operations in an agent's workspace. The agent's program executes them and resolves links. */
export function createWorkspace({ ask }: { ask: CallAgent }): Workspace {
  async function* chunks(
    read: (offset: number, length: number) => Promise<{ data_base64: string; eof: boolean }>,
    { start, end }: { start: number; end: number },
  ): AsyncIterable<Uint8Array> {
    const next = (at: number) => read(at, Math.min(fileChunkBytes, end - at + 1))
    let at = start
    let pending = at <= end ? next(at) : null
    while (pending) {
      const { data_base64, eof } = await pending
      const bytes = Buffer.from(data_base64, 'base64')
      at += bytes.length
      // Prefetches the next chunk while this one is sent. A file that shrinks ends the stream early.
      pending = at <= end && !eof && bytes.length > 0 ? next(at) : null
      pending?.catch(() => {})
      if (bytes.length > 0) yield bytes
    }
    if (at <= end) throw new Error('The file became shorter while it was read.')
  }

  /** Returns the final path, which may differ with `rename`, and the size. */
  async function write(
    agent: Agent,
    { path, chunks: given, onConflict, isOwner, mode, part = null }: WriteRequest,
    signal: AbortSignal,
  ): Promise<{ path: string; size: number }> {
    const upload_id = part?.uploadId ?? newId()
    let offset = part?.offset ?? 0
    const send = async (chunk: Buffer, last: boolean) => {
      const request = {
        path,
        upload_id,
        offset,
        data_base64: chunk.toString('base64'),
        last,
        on_conflict: onConflict,
        guarded: !isOwner,
        ...(mode === undefined ? {} : { mode }),
      }
      offset += chunk.length
      return (await ask(agent, 'fs.write', request, signal).catch(faultMapper(path))).path
    }
    // The last chunk places the file, so each one waits until the next has arrived.
    let pending: Buffer | null = null
    try {
      for await (const chunk of given) {
        if (pending) await send(pending, false)
        pending = chunk
      }
      const finalPath = await send(pending ?? Buffer.alloc(0), part?.isLast ?? true)
      return { path: finalPath, size: offset }
    } catch (error) {
      // The client may send the part again.
      if (part)
        throw isLostUpload(error, part) ? new Fault('upload_expired', undefined, {}, { cause: error }) : error
      if (offset > 0) await discard(agent, { path, upload_id, offset: offset + 1 })
      throw error
    }
  }

  /** A chunk at an unexpected offset makes the agent discard the upload now instead of after its timeout. */
  async function discard(
    agent: Agent,
    upload: { path: string; upload_id: string; offset: number },
  ): Promise<void> {
    const request = { ...upload, data_base64: '', last: false, on_conflict: 'replace' as const }
    await ask(agent, 'fs.write', request, AbortSignal.timeout(discardTimeoutMs)).catch(() => {})
  }

  async function exists(agent: Agent, request: { path: string; guarded: boolean }, signal: AbortSignal) {
    try {
      await ask(agent, 'fs.stat', request, signal)
      return true
    } catch (error) {
      const isMissing = error instanceof LinkFault && error.code === 'file_not_found'
      return isMissing ? false : faultMapper(request.path)(error)
    }
  }

  return {
    async list(agent, { path: given, depth, show_hidden }, signal) {
      const path = resolvePath(given)
      rejectClosed(path)
      const request = { path, depth, show_hidden, limit: maxListedEntries }
      const answer = await ask(agent, 'fs.list', request, signal).catch(faultMapper(given))
      const { tree, total_files, truncated } = answer
      return { base_path: workspaceRoot, requested_path: path, tree, total_files, truncated }
    },

    async save(agent, { path: given, isOwner }, content, signal) {
      const path = resolvePath(given)
      rejectWrite(path, isOwner)
      requireDiskRoom(agent)
      const bytes = Buffer.from(content, 'utf8')
      if (bytes.length > maxFileWriteBytes) {
        throw new Fault('file_too_large', 'A file saved this way has at most 5 MiB.')
      }
      await write(agent, { path, chunks: chunksOf(bytes), onConflict: 'replace', isOwner }, signal)
      return { path, size: bytes.length }
    },

    async receive(agent, { path: given, isOwner }, { source, isExecutable, part }, signal) {
      const path = resolvePath(given)
      rejectWrite(path, isOwner)
      requireDiskRoom(agent)
      const chunks = inChunks(source, maxUploadBytes - (part?.offset ?? 0))
      const mode = isExecutable ? executableMode : undefined
      const request = { path, chunks, onConflict: 'replace' as const, isOwner, mode, part }
      const { size } = await write(agent, request, signal)
      return { path, size }
    },

    async upload(agent, given, bytes, signal) {
      const path = resolvePath(given)
      rejectWrite(path, false)
      requireDiskRoom(agent)
      const chunks = chunksOf(bytes)
      return write(agent, { path, chunks, onConflict: 'rename', isOwner: false }, signal)
    },

    async remove(agent, { path: given, isOwner }, signal) {
      const path = resolvePath(given)
      rejectDelete(path, isOwner)
      await ask(agent, 'fs.delete', { path, guarded: !isOwner }, signal).catch(faultMapper(given))
      return { path }
    },

    async makeDirectory(agent, { path: given, isOwner }, signal) {
      const path = resolvePath(given)
      rejectWrite(path, isOwner)
      requireDiskRoom(agent)
      await ask(agent, 'fs.mkdir', { path, guarded: !isOwner }, signal).catch(faultMapper(given))
      return { path }
    },

    async move(agent, { from: givenFrom, to: givenTo, isOwner }, signal) {
      const [from, to] = [resolvePath(givenFrom), resolvePath(givenTo)]
      rejectDelete(from, isOwner)
      rejectRead(from, isOwner)
      rejectDelete(to, isOwner)
      const guarded = !isOwner
      if (await exists(agent, { path: to, guarded }, signal))
        throw new Fault('already_exists', `"${formatPath(givenTo)}" already exists.`)
      await ask(agent, 'fs.move', { from, to, guarded }, signal).catch((error: unknown) => {
        if (error instanceof LinkFault && error.code === 'unknown_message')
          throw new Fault('agent_program_outdated', undefined, {}, { cause: error })
        return faultMapper(givenFrom)(error)
      })
      return { path: to }
    },

    async open(agent, { path: given, isOwner, range: header, directories }, signal) {
      const path = resolvePath(given)
      rejectRead(path, isOwner)
      // The agent checks the resolved path: a link may point to something protected.
      const guarded = !isOwner
      const stat = await ask(agent, 'fs.stat', { path, guarded }, signal).catch(faultMapper(given))
      if (stat.type === 'directory') {
        if (!directories) throw new Fault('file_not_found', `"${formatPath(given)}" is a directory.`)
        rejectPack(path, isOwner)
        const request = { path, max_bytes: maxDownloadBytes, guarded }
        const { handle, size } = await ask(agent, 'fs.pack', request, signal).catch(faultMapper(given))
        const read = (offset: number, length: number) =>
          ask(agent, 'fs.read_pack', { handle, offset, length }, signal)
        const name = `${path === workspaceRoot ? agent.name : posix.basename(path)}.tar.gz`
        const bytes = chunks(read, { start: 0, end: size - 1 })
        return { kind: 'packed', opened: { name, size, modified: stat.modified, range: null, bytes } }
      }
      const { size, modified } = stat
      if (size > maxDownloadBytes)
        throw new Fault('file_too_large', `"${formatPath(given)}" is larger than 100 MB.`)
      const range = parseRange(header, size)
      if (range === 'outside') return { kind: 'outside', size }
      const read = (offset: number, length: number) =>
        ask(agent, 'fs.read', { path, offset, length, guarded }, signal)
      const bytes = chunks(read, range === 'all' ? { start: 0, end: size - 1 } : range)
      const opened = {
        name: posix.basename(path),
        size,
        modified,
        range: range === 'all' ? null : range,
        bytes,
      }
      return { kind: 'file', opened }
    },
  }
}

function* chunksOf(bytes: Buffer): Iterable<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += fileChunkBytes)
    yield bytes.subarray(offset, offset + fileChunkBytes)
}

/** Gathers the pieces of a request body into chunks of the link. Throws `file_too_large` above the limit. */
async function* inChunks(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<Buffer> {
  let gathered: Uint8Array[] = []
  let length = 0
  let total = 0
  for await (const piece of source) {
    total += piece.length
    if (total > maxBytes) throw tooLargeToUpload()
    gathered.push(piece)
    length += piece.length
    if (length < fileChunkBytes) continue
    const bytes = Buffer.concat(gathered, length)
    const whole = length - (length % fileChunkBytes)
    yield* chunksOf(bytes.subarray(0, whole))
    gathered = [bytes.subarray(whole)]
    length -= whole
  }
  if (length > 0) yield Buffer.concat(gathered, length)
}

function tooLargeToUpload(): Fault {
  return new Fault('file_too_large', 'An uploaded file has at most 100 MB.')
}

/** The agent has no part before this one: it was restarted, or the parts have expired. */
function isLostUpload(error: unknown, { offset }: Part): boolean {
  const cause = error instanceof Fault ? error.cause : null
  return offset > 0 && cause instanceof LinkFault && cause.code === 'invalid_message'
}

/** Maps the agent's errors to faults with the requested path and our own wording. */
function faultMapper(given: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof LinkFault)) throw error
    throw faultFor(error.code, formatPath(given), error)
  }
}

function faultFor(code: LinkErrorCode, path: string, cause: LinkFault): Fault {
  switch (code) {
    case 'file_not_found':
      return new Fault('file_not_found', `There is no "${path}".`, {}, { cause })
    case 'protected_path':
      return new Fault('protected_path', `"${path}" is protected or outside the workspace.`, {}, { cause })
    case 'file_too_large':
      return new Fault('file_too_large', `"${path}" is larger than 100 MB.`, {}, { cause })
    case 'not_a_file':
      return new Fault('conflict', `"${path}" is not a file.`, {}, { cause })
    case 'not_a_directory':
      return new Fault('conflict', `"${path}" is not a directory.`, {}, { cause })
    case 'io_error':
      return new Fault('conflict', `The workspace refused the operation on "${path}".`, {}, { cause })
    case 'unknown_message':
    case 'invalid_message':
      return new Fault('agent_unresponsive', 'The agent does not know this operation.', {}, { cause })
  }
}
