import {
  discardFormerWorkspace,
  listFormerWorkspaces,
  useFormerWorkspace as putFormerBack,
} from '@roost/contracts/agents/former-workspaces'
import {
  getHistorySettings,
  getRecordArchive,
  getRecordChanges,
  getRecordDiff,
  getRecordFile,
  getRunChanges,
  getRunDiff,
  type HistorySettingsPatch,
  listHistory,
  listRecordFiles,
  pinHistoryRecord,
  putHistorySettings,
  type WorkspaceChange,
} from '@roost/contracts/agents/workspace-history'
import {
  cancelRestore,
  getRestore,
  listRestores,
  previewRestore,
  type RestoreTarget,
  startRestore,
} from '@roost/contracts/agents/workspace-restore'
import { type Client, errorOf } from '@roost/contracts/client'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { saveBlob } from '../../lib/save-blob.ts'
import { ofAgent, ofRun, runEvents, staleOn } from '../../live/stale.ts'

export const historyKeys = {
  ofAgent: (name: string) => ['agent', name, 'history'] as const,
  ofRun: (id: string) => ['execution', id, 'changes'] as const,
}

staleOn(runEvents, ofAgent(historyKeys.ofAgent), ofRun(historyKeys.ofRun))

/** Changes per page. */
export const changesPerPage = 200
const recordingPaceMs = 2000
const restorePaceMs = 1000

/** The differences of a run, or between two records. */
export type ChangesOf =
  | { kind: 'run'; id: string }
  /** `since`: an earlier record than the one before it. */
  | { kind: 'record'; name: string; id: string; since?: string | undefined }

/** A path of a list, as requests name it. */
export type Named = Pick<WorkspaceChange, 'path' | 'path_bytes'>

export const runChangesQuery = (api: Client, id: string, offset = 0) =>
  queryOptions({
    queryKey: [...historyKeys.ofRun(id), 'list', offset],
    queryFn: ({ signal }) =>
      api.call(getRunChanges, {
        params: { id },
        query: { offset: String(offset), limit: String(changesPerPage) },
        signal,
      }),
    refetchInterval: ({ state }) => (state.data?.status === 'recording' ? recordingPaceMs : false),
  })

export const recordChangesQuery = (api: Client, name: string, record: string, since?: string) =>
  queryOptions({
    queryKey: [...historyKeys.ofAgent(name), 'changes', record, since],
    queryFn: ({ signal }) =>
      api.call(getRecordChanges, {
        params: { name, record },
        query: { limit: String(changesPerPage), since },
        signal,
      }),
    // A record never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })

export const diffQuery = (api: Client, of: ChangesOf, change: WorkspaceChange) =>
  queryOptions({
    queryKey: [
      ...(of.kind === 'run' ? historyKeys.ofRun(of.id) : historyKeys.ofAgent(of.name)),
      ...['diff', of.id, of.kind === 'record' ? of.since : undefined],
      ...[change.path, change.path_bytes, change.from],
    ],
    queryFn: ({ signal }) => {
      const { from, from_bytes } = change
      const query = { ...pathQuery(change), ...(from_bytes === undefined ? { from } : { from_bytes }) }
      if (of.kind === 'run') return api.call(getRunDiff, { params: { id: of.id }, query, signal })
      return api.call(getRecordDiff, {
        params: { name: of.name, record: of.id },
        query: { ...query, since: of.since },
        signal,
      })
    },
  })

export const historyQuery = (api: Client, name: string) =>
  infiniteQueryOptions({
    queryKey: [...historyKeys.ofAgent(name), 'records'],
    queryFn: ({ signal, pageParam }) =>
      api.call(listHistory, {
        params: { name },
        query: pageParam === null ? {} : { before: String(pageParam) },
        signal,
      }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next_before }) => next_before,
  })

export const recordFolderQuery = (api: Client, name: string, record: string, folder: Named) =>
  queryOptions({
    queryKey: [...historyKeys.ofAgent(name), 'folder', record, folder.path, folder.path_bytes],
    queryFn: ({ signal }) =>
      api.call(listRecordFiles, {
        params: { name, record },
        query: { ...(folder.path === '' ? {} : pathQuery(folder)), limit: '1000' },
        signal,
      }),
    staleTime: Number.POSITIVE_INFINITY,
  })

export const imageQuery = (api: Client, name: string, record: string, file: Named) =>
  queryOptions({
    queryKey: [...historyKeys.ofAgent(name), 'image', record, file.path, file.path_bytes],
    queryFn: async ({ signal }) => {
      const query = { ...pathQuery(file), inline: 'true' } as const
      const response = await api.open(getRecordFile, { params: { name, record }, query, signal })
      if (!response.ok) throw await errorOf(response)
      return response.blob()
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

export const historySettingsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...historyKeys.ofAgent(name), 'settings'],
    queryFn: ({ signal }) => api.call(getHistorySettings, { params: { name }, signal }),
  })

export const saveHistorySettings = (api: Client, name: string, body: HistorySettingsPatch) =>
  api.call(putHistorySettings, { params: { name }, body })

export const pinRecord = (api: Client, name: string, record: string, pinned: boolean) =>
  api.call(pinHistoryRecord, { params: { name, record }, body: { pinned } })

/** What is restored, and to when; without a path everything. */
export type RestoreOf = Partial<RestoreTarget>

export const restorePreviewQuery = (api: Client, name: string, target: RestoreOf) =>
  queryOptions({
    queryKey: [...historyKeys.ofAgent(name), 'restore preview', target],
    queryFn: ({ signal }) => api.call(previewRestore, { params: { name }, body: target, signal }),
    // The workspace may change at any time, and a comparison reads all of it.
    ...{ gcTime: 0, refetchOnWindowFocus: false, refetchOnReconnect: false, retry: false },
  })

export const restoreQuery = (api: Client, name: string, restore: string) =>
  queryOptions({
    queryKey: ['agent', name, 'restore', restore],
    queryFn: ({ signal }) => api.call(getRestore, { params: { name, restore }, signal }),
    refetchInterval: ({ state }) => (state.data?.ended_at ? false : restorePaceMs),
  })

export const beginRestore = (api: Client, name: string, target: RestoreOf, when_busy: 'wait' | 'stop') =>
  api.call(startRestore, { params: { name }, body: { ...target, when_busy } })

const fillingPaceMs = 3000

export const formerQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...historyKeys.ofAgent(name), 'former'],
    queryFn: ({ signal }) => api.call(listFormerWorkspaces, { params: { name }, signal }),
    refetchInterval: ({ state }) => (state.data?.filling ? fillingPaceMs : false),
  })

export const changeFormer = (api: Client, name: string, workspace: string, act: 'use' | 'discard') =>
  api.call(act === 'use' ? putFormerBack : discardFormerWorkspace, { params: { name, workspace } })

/** Looks again while a restore is open; runs and their events say when one may have been opened. */
export const restoresQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...historyKeys.ofAgent(name), 'restores'],
    queryFn: ({ signal }) => api.call(listRestores, { params: { name }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.restores.some(({ ended_at }) => ended_at === null) ? restorePaceMs : false,
  })

export const stopRestore = (api: Client, name: string, restore: string) =>
  api.call(cancelRestore, { params: { name, restore } })

/** Saves a file, or a folder as tar.gz. */
export async function downloadAt(
  api: Client,
  name: string,
  record: string,
  entry: Named & { kind: 'file' | 'folder' },
): Promise<void> {
  const params = { name, record }
  const query = entry.path === '' ? {} : pathQuery(entry)
  const response =
    entry.kind === 'file'
      ? await api.open(getRecordFile, { params, query })
      : await api.open(getRecordArchive, { params, query })
  if (!response.ok) throw await errorOf(response)
  const last = entry.path.slice(entry.path.lastIndexOf('/') + 1) || name
  saveBlob(await response.blob(), entry.kind === 'file' ? last : `${last}.tar.gz`)
}

export function pathQuery({ path, path_bytes }: Named) {
  return path_bytes === undefined ? { path } : { path_bytes }
}
