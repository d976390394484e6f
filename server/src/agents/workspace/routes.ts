import {
  deleteFile,
  downloadFile,
  listFiles,
  makeDirectory,
  moveFile,
  previewFile,
  saveFile,
  uploadFile,
} from '@roost/contracts/agents/workspace'
import type { QueryOf } from '@roost/contracts/kit/endpoint'
import { agentRoute, type Route, streamAnswer } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import { disposition, inlineType, safeHeaders } from './content.ts'
import { ownsSecrets } from './paths.ts'
import type { Opened, Part, Workspace } from './service.ts'

export function workspaceRoutes(workspace: Workspace, agentRecords: Pick<AgentRecords, 'byId'>): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  return [
    agentRoute(listFiles, async (call) =>
      workspace.list(await agentOf(call), call.query, call.request.signal),
    ),

    agentRoute(saveFile, async (call) => {
      call.request.note({ path: call.query.path })
      const file = { path: call.query.path, isOwner: ownsSecrets(call.relation) }
      const saved = await workspace.save(await agentOf(call), file, call.body.content, call.request.signal)
      return { success: true as const, ...saved }
    }),

    agentRoute(uploadFile, async (call) => {
      call.request.note({ path: call.query.path })
      const file = { path: call.query.path, isOwner: ownsSecrets(call.relation) }
      const upload = {
        // The framework passes the body as it arrives.
        source: call.body as AsyncIterable<Uint8Array>,
        isExecutable: call.query.executable,
        part: partOf(call.query, call.caller.user.id),
      }
      // The entry of the last part stands for the file.
      if (!call.query.complete) call.request.omitFromAudit()
      const saved = await workspace.receive(await agentOf(call), file, upload, call.request.signal)
      return { success: true as const, ...saved }
    }),

    agentRoute(deleteFile, async (call) => {
      call.request.note({ path: call.query.path })
      const file = { path: call.query.path, isOwner: ownsSecrets(call.relation) }
      const removed = await workspace.remove(await agentOf(call), file, call.request.signal)
      return { success: true as const, ...removed }
    }),

    agentRoute(makeDirectory, async (call) => {
      call.request.note({ path: call.body.path })
      const folder = { path: call.body.path, isOwner: ownsSecrets(call.relation) }
      const created = await workspace.makeDirectory(await agentOf(call), folder, call.request.signal)
      return { success: true as const, ...created }
    }),

    agentRoute(moveFile, async (call) => {
      const { from, to } = call.body
      call.request.note({ path: from, to })
      const request = { from, to, isOwner: ownsSecrets(call.relation) }
      const moved = await workspace.move(await agentOf(call), request, call.request.signal)
      return { success: true as const, ...moved }
    }),

    agentRoute(downloadFile, async (call) => {
      const isOwner = ownsSecrets(call.relation)
      const range = call.request.header('range')
      const download = { path: call.query.path, isOwner, range, directories: true }
      const found = await workspace.open(await agentOf(call), download, call.request.signal)
      if (found.kind === 'outside') throw outside(found.size)
      const type = found.kind === 'packed' ? 'application/gzip' : 'application/octet-stream'
      return fileResponse(found.opened, type, 'attachment')
    }),

    agentRoute(previewFile, async (call) => {
      const isOwner = ownsSecrets(call.relation)
      const range = call.request.header('range')
      const download = { path: call.query.path, isOwner, range, directories: false }
      const found = await workspace.open(await agentOf(call), download, call.request.signal)
      if (found.kind === 'outside') throw outside(found.size)
      const type = inlineType(found.opened.name)
      return type === null
        ? fileResponse(found.opened, 'application/octet-stream', 'attachment')
        : fileResponse(found.opened, type, 'inline')
    }),
  ]
}

/** The id contains the person, so that nobody adds parts to the upload of another. */
function partOf(query: QueryOf<typeof uploadFile>, userId: string): Part | null {
  const { upload, offset, complete: isLast } = query
  if (upload !== undefined) return { uploadId: `${userId}.${upload}`, offset, isLast }
  if (offset === 0 && isLast) return null
  throw new Fault('validation_error', 'A part of a file needs the field "upload".')
}

function fileResponse(
  { name, size, modified, range, bytes }: Opened,
  type: string,
  kind: 'attachment' | 'inline',
) {
  const length = range ? range.end - range.start + 1 : size
  const headers: Record<string, string> = {
    ...safeHeaders,
    'content-disposition': disposition(kind, name),
    'content-length': String(length),
    'last-modified': new Date(modified).toUTCString(),
    'accept-ranges': 'bytes',
  }
  if (range) headers['content-range'] = `bytes ${range.start}-${range.end}/${size}`
  return streamAnswer(type, bytes, { status: range ? 206 : 200, headers })
}

function outside(size: number): Fault {
  const headers = { 'content-range': `bytes */${size}` }
  return new Fault('range_not_satisfiable', undefined, {}, { headers })
}
