import { z } from 'zod'
import { fileFails } from '../agents/workspace.ts'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, megabyte, Timestamp } from '../kit/primitives.ts'
import { workspaceAccess as access, workspaceTag as tag, workspaceAgentPath } from './workspace.ts'

export const maxDocumentBytes = 25 * megabyte
/** Documents of one person with one agent together. */
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
  summary: 'Own files with an agent',
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
  summary: 'Give the agent a file',
  description: 'Multipart form with one file, at most 25 MB, in a field of any name; 100 MB together.',
  tag,
  access,
  params: AgentParams,
  bodyKind: 'raw',
  accepts: ['multipart/form-data'],
  bodyLimit: maxDocumentBytes + megabyte,
  status: 201,
  returns: WorkspaceDocument,
  fails: [...fileFails, 'rate_limited', 'validation_error'],
  audit: { type: 'execution', action: 'upload_document' },
})

export const downloadDocument = endpoint({
  id: 'downloadWorkspaceDocument',
  method: 'GET',
  path: workspaceAgentPath('/documents/{id}'),
  summary: 'An own file',
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
  summary: 'Take an own file back',
  tag,
  access,
  params: ItemParams,
  status: 204,
  fails: fileFails,
  audit: { type: 'execution', action: 'delete_document' },
})
