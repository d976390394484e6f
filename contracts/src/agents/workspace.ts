import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, megabyte, queryBoolean, queryInteger } from '../kit/primitives.ts'
import { workspaceHome } from '../link/credentials.ts'

const tag = 'Workspace'
export const workspaceRoot = workspaceHome
export const maxFileWriteBytes = 5 * megabyte
export const maxDownloadBytes = 100 * megabyte
export const maxUploadBytes = 100 * megabyte
export const maxListedEntries = 5000

const utf8 = new TextEncoder()
const bytesOf = (text: string) => utf8.encode(text).length
/** The limit of the file system, minus room for the home folder in front. */
export const FilePath = z
  .string()
  .min(1)
  .max(4096)
  .refine((path) => bytesOf(path) <= 4000, 'must be at most 4000 bytes')
  .refine(
    (path) => path.split('/').every((name) => bytesOf(name) <= 255),
    'must name each file and folder in at most 255 bytes',
  )
const PathQuery = z.object({ path: FilePath })
const PathBody = z.object({ path: FilePath })
const Changed = z.object({ success: z.literal(true), path: z.string() })

export type FileEntry = {
  name: string
  path: string
  type: 'file' | 'directory'
  size?: number
  modified?: string
  children?: FileEntry[]
  file_count?: number
}
export const FileEntry: z.ZodType<FileEntry> = z
  .object({
    name: z.string(),
    path: z.string(),
    type: z.enum(['file', 'directory']),
    size: z.number().optional(),
    modified: z.string().optional(),
    get children() {
      return z.array(FileEntry).optional()
    },
    file_count: z.number().optional(),
  })
  .meta({ id: 'FileEntry' })

/** Errors of operations on an agent's files. */
export const fileFails = [
  'agent_not_found',
  'agent_stopped',
  'file_not_found',
  'file_too_large',
  'protected_path',
  'conflict',
  'agent_unresponsive',
] as const
const writeFails = [...fileFails, 'disk_quota_reached'] as const

export const listFiles = endpoint({
  id: 'listFiles',
  method: 'GET',
  path: '/api/agents/{name}/files',
  summary: 'The workspace as a tree',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: z.object({
    path: FilePath.default(workspaceRoot),
    show_hidden: queryBoolean(false),
    depth: queryInteger(1, 10, 1),
  }),
  returns: z.object({
    base_path: z.string(),
    requested_path: z.string(),
    tree: z.array(FileEntry),
    total_files: z.number().int(),
    truncated: z.boolean(),
  }),
  fails: fileFails,
})

export const saveFile = endpoint({
  id: 'saveFile',
  method: 'PUT',
  path: '/api/agents/{name}/files',
  summary: 'Save a text file',
  tag,
  access: { who: 'access', gate: 'person', writesWorkspace: true },
  params: AgentParams,
  query: PathQuery,
  body: z.object({ content: z.string() }),
  /** JSON may need up to six bytes per byte of content, so the limit is checked after parsing. */
  bodyLimit: 6 * maxFileWriteBytes + megabyte,
  returns: Changed.extend({ size: z.number().int() }),
  fails: writeFails,
  audit: { type: 'configuration', action: 'save_file' },
})

export const uploadFile = endpoint({
  id: 'uploadFile',
  method: 'PUT',
  path: '/api/agents/{name}/files/upload',
  summary: 'Upload a file of any type',
  description:
    'The body is the content. The file appears under its name when it is complete, and replaces an existing one; missing folders are created. At most 100 MB. To resume after a lost connection, send the content in several requests with the same `upload` and the `offset` of each part; a repeated part does no harm. Parts are deleted 10 minutes after the last one arrived.',
  tag,
  access: { who: 'access', gate: 'person', writesWorkspace: true },
  params: AgentParams,
  query: PathQuery.extend({
    executable: queryBoolean(false).describe(
      'Sets the execute permission. Without it a replaced file keeps its permissions.',
    ),
    upload: z
      .string()
      .regex(/^[\w-]{16,64}$/, 'must be 16 to 64 letters, digits, "-" and "_"')
      .optional()
      .describe('A random id chosen by the client, the same for all parts of a file.'),
    offset: queryInteger(0, maxUploadBytes, 0).describe('Bytes of the file before this part.'),
    complete: queryBoolean(true).describe('`false`: more parts follow. Needs `upload`.'),
  }),
  bodyKind: 'stream',
  body: z.custom<ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | Uint8Array<ArrayBuffer>>(),
  returns: Changed.extend({ size: z.number().int().describe('Bytes received so far.') }),
  fails: [...writeFails, 'upload_expired'],
  audit: { type: 'configuration', action: 'upload_file' },
})

export const deleteFile = endpoint({
  id: 'deleteFile',
  method: 'DELETE',
  path: '/api/agents/{name}/files',
  summary: 'Delete a file, or a directory with everything in it',
  tag,
  access: { who: 'access', gate: 'person', writesWorkspace: true },
  params: AgentParams,
  query: PathQuery,
  returns: Changed,
  fails: fileFails,
  audit: { type: 'configuration', action: 'delete_file' },
})

export const makeDirectory = endpoint({
  id: 'makeDirectory',
  method: 'POST',
  path: '/api/agents/{name}/files/mkdir',
  summary: 'Create a directory',
  tag,
  access: { who: 'access', gate: 'person', writesWorkspace: true },
  params: AgentParams,
  body: PathBody,
  returns: Changed,
  fails: writeFails,
  audit: { type: 'configuration', action: 'make_directory' },
})

export const moveFile = endpoint({
  id: 'moveFile',
  method: 'POST',
  path: '/api/agents/{name}/files/move',
  summary: 'Move or rename a file or a directory',
  description:
    'Never replaces an existing entry; missing folders are created. Only the owner moves directories: they may hold files that are closed to others.',
  tag,
  access: { who: 'access', gate: 'person', writesWorkspace: true },
  params: AgentParams,
  body: z.object({ from: FilePath, to: FilePath }),
  returns: Changed,
  fails: [...fileFails, 'already_exists', 'agent_program_outdated'],
  audit: { type: 'configuration', action: 'move_file' },
})

const fileHeaders = ['Content-Disposition', 'Content-Range', 'Accept-Ranges', 'Last-Modified'] as const
const partOfFile = [{ status: 206, when: 'The part of the file requested by `Range`.' }] as const

export const downloadFile = endpoint({
  id: 'downloadFile',
  method: 'GET',
  path: '/api/agents/{name}/files/download',
  summary: 'Download a file, or a directory as tar.gz',
  description: 'Supports `Range: bytes=…` with one range.',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: PathQuery,
  streams: ['application/octet-stream', 'application/gzip'],
  headers: ['Range'],
  replyHeaders: fileHeaders,
  also: partOfFile,
  fails: [...fileFails, 'range_not_satisfiable'],
})

export const previewFile = endpoint({
  id: 'previewFile',
  method: 'GET',
  path: '/api/agents/{name}/files/preview',
  summary: 'A file with a content type that is safe to display inline, otherwise as attachment',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: PathQuery,
  streams: [
    'text/plain',
    'image/png',
    'image/jpeg',
    'image/gif',
    'image/webp',
    'application/pdf',
    'application/octet-stream',
  ],
  headers: ['Range'],
  replyHeaders: fileHeaders,
  also: partOfFile,
  fails: [...fileFails, 'range_not_satisfiable'],
})
