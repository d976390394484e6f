import { z } from 'zod'
import { fileFails } from '../agents/workspace.ts'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, megabyte, Timestamp } from '../kit/primitives.ts'
import { workspaceAccess as access, workspaceTag as tag, workspaceAgentPath } from './workspace.ts'

export const maxDocumentBytes = 25 * megabyte
/** Total size of one person's documents with one agent. */
export const maxInboxBytes = 100 * megabyte

const ItemParams = z.object({ name: z.string(), id: z.string() })

export const WorkspaceDocument = z
  .object({
    id: Id,
    filename: z.string(),
    size_bytes: z.number().int(),
    path: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'WorkspaceDocument' })
export type WorkspaceDocument = z.output<typeof WorkspaceDocument>

export const listDocuments = endpoint({
  id: 'listWorkspaceDocuments',
  method: 'GET',
  path: workspaceAgentPath('/documents'),
  summary: 'List your files with an agent',
  tag,
  access,
  params: AgentParams,
  returns: z.object({ agent_name: z.string(), documents: z.array(WorkspaceDocument) }),
  fails: ['agent_not_found'],
})

export const uploadDocument = endpoint({
  id: 'uploadWorkspaceDocument',
  method: 'POST',
  path: workspaceAgentPath('/documents'),
  summary: 'Upload a file for the agent',
  description: 'Multipart form with one file in a field of any name; at most 25 MB, and 100 MB in total.',
  tag,
  access,
  params: AgentParams,
  bodyKind: 'raw',
  accepts: ['multipart/form-data'],
  bodyLimit: maxDocumentBytes + megabyte,
  status: 201,
  returns: WorkspaceDocument,
  fails: [...fileFails, 'disk_quota_reached', 'rate_limited', 'validation_error', 'workspace_read_only'],
  audit: { type: 'execution', action: 'upload_document' },
})

export const downloadDocument = endpoint({
  id: 'downloadWorkspaceDocument',
  method: 'GET',
  path: workspaceAgentPath('/documents/{id}'),
  summary: 'Download one of your files',
  tag,
  access,
  params: ItemParams,
  streams: ['application/octet-stream'],
  replyHeaders: ['Content-Disposition'],
  fails: fileFails,
})

export const deleteDocument = endpoint({
  id: 'deleteWorkspaceDocument',
  method: 'DELETE',
  path: workspaceAgentPath('/documents/{id}'),
  summary: 'Delete one of your files',
  tag,
  access,
  params: ItemParams,
  status: 204,
  fails: [...fileFails, 'workspace_read_only'],
  audit: { type: 'execution', action: 'delete_document' },
})
