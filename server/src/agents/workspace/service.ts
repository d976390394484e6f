import { posix } from 'node:path'
import {
  type FileEntry,
  maxDownloadBytes,
  maxFileWriteBytes,
  maxListedEntries,
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
  /** Never replaces an existing file; the reply contains the final path. */
  upload(
    agent: Agent,
    path: string,
    bytes: Buffer,
    signal: AbortSignal,
  ): Promise<{ path: string; size: number }>
  remove(agent: Agent, file: FileRequest, signal: AbortSignal): Promise<{ path: string }>
  makeDirectory(agent: Agent, folder: FileRequest, signal: AbortSignal): Promise<{ path: string }>
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

type WriteRequest = FileRequest & { bytes: Buffer; onConflict: 'replace' | 'rename' }

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

  /** Returns the final path, which may differ with `rename`. */
  async function write(
    agent: Agent,
    { path, bytes, onConflict, isOwner }: WriteRequest,
    signal: AbortSignal,
  ): Promise<string> {
    const upload_id = newId()
    let offset = 0
    let finalPath = path
    do {
      const chunk = bytes.subarray(offset, offset + fileChunkBytes)
      const last = offset + chunk.length >= bytes.length
      const data_base64 = chunk.toString('base64')
      const request = {
        path,
        upload_id,
        offset,
        data_base64,
        last,
        on_conflict: onConflict,
        guarded: !isOwner,
      }
      finalPath = (await ask(agent, 'fs.write', request, signal).catch(faultMapper(path))).path
      offset += chunk.length
    } while (offset < bytes.length)
    return finalPath
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
      await write(agent, { path, bytes, onConflict: 'replace', isOwner }, signal)
      return { path, size: bytes.length }
    },

    async upload(agent, given, bytes, signal) {
      const path = resolvePath(given)
      rejectWrite(path, false)
      requireDiskRoom(agent)
      const finalPath = await write(agent, { path, bytes, onConflict: 'rename', isOwner: false }, signal)
      return { path: finalPath, size: bytes.length }
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
