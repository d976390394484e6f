import {
  deleteFile,
  downloadFile,
  listFiles,
  makeDirectory,
  moveFile,
  saveFile,
  uploadFile,
} from '@roost/contracts/agents/workspace'
import { type Client, errorOf } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { saveBlob } from '../../lib/save-blob.ts'
import { containerEvents, ofAgent, staleOn } from '../../live/stale.ts'
import { absolutePath, nameOf, type Place } from './paths.ts'
import { readFile } from './read-file.ts'
import type { SentPart } from './uploads/transfers.ts'

export const fileKeys = {
  all: (name: string) => ['agent', name, 'files'] as const,
  folders: (name: string) => [...fileKeys.all(name), 'folder'] as const,
  folder: (name: string, path: string, hidden: boolean) => [...fileKeys.folders(name), path, hidden] as const,
  file: (name: string, path: string) => [...fileKeys.all(name), 'file', path] as const,
}

staleOn(['execution_finished', ...containerEvents], ofAgent(fileKeys.all))

/** The direct entries of a folder. */
export const folderQuery = (api: Client, name: string, path: string, hidden: boolean) =>
  queryOptions({
    queryKey: fileKeys.folder(name, path, hidden),
    queryFn: ({ signal }) =>
      api.call(listFiles, {
        params: { name },
        query: { path: absolutePath(path), show_hidden: hidden ? '1' : '0' },
        signal,
      }),
  })

export const fileQuery = (api: Client, name: string, path: string) =>
  queryOptions({
    queryKey: fileKeys.file(name, path),
    queryFn: ({ signal }) => readFile(api, name, path, signal),
    // Images may be large, and the end of a run invalidates them anyway.
    refetchOnWindowFocus: false,
  })

export async function writeText(api: Client, name: string, path: string, content: string): Promise<void> {
  await api.call(saveFile, { params: { name }, query: { path: absolutePath(path) }, body: { content } })
}

export async function sendPart(api: Client, part: SentPart): Promise<void> {
  const { id, agent, path, offset, bytes, isLast, signal } = part
  await api.call(uploadFile, {
    params: { name: agent },
    query: {
      path: absolutePath(path),
      upload: id,
      offset: String(offset),
      complete: isLast ? 'true' : 'false',
    },
    body: bytes,
    signal,
  })
}

export async function makeFolder(api: Client, name: string, path: string): Promise<void> {
  await api.call(makeDirectory, { params: { name }, body: { path: absolutePath(path) } })
}

export async function moveEntry(api: Client, name: string, from: string, to: string): Promise<void> {
  const body = { from: absolutePath(from), to: absolutePath(to) }
  await api.call(moveFile, { params: { name }, body })
}

export async function removeEntry(api: Client, name: string, path: string): Promise<void> {
  await api.call(deleteFile, { params: { name }, query: { path: absolutePath(path) } })
}

/** The current entry names of a folder; none for a missing folder. */
export async function namesIn(api: Client, name: string, path: string): Promise<ReadonlySet<string>> {
  const response = await api.open(listFiles, {
    params: { name },
    query: { path: absolutePath(path), show_hidden: '1' },
  })
  if (response.status === 404) return new Set()
  if (!response.ok) throw await errorOf(response)
  // The reply of `listFiles`.
  const { tree } = (await response.json()) as { tree: { name: string }[] }
  return new Set(tree.map((entry) => entry.name))
}

/** Downloads a file, or a folder as `tar.gz`. The token is sent as a header and never in a URL. */
export async function download(api: Client, name: string, { kind, path }: Place): Promise<void> {
  const response = await api.open(downloadFile, { params: { name }, query: { path: absolutePath(path) } })
  if (!response.ok) throw await errorOf(response)
  const base = nameOf(path) || name
  saveBlob(await response.blob(), kind === 'folder' ? `${base}.tar.gz` : base)
}
