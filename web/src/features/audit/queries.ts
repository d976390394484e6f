import type { Client } from '@roost/contracts/client'
import { getAuditLogEntry, getAuditLogStats, listAuditLog } from '@roost/contracts/foundation/audit'
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type AuditSearch, type AuditWindow, queryOf, routineOf } from './filter.ts'

export const auditKeys = {
  all: ['audit'] as const,
  entry: (id: string) => ['audit', 'entry', id] as const,
}

const pageSize = 200

/** Entries of a time range, newest first, loaded in pages. */
export const auditLogQuery = (api: Client, search: AuditSearch, window: AuditWindow) =>
  infiniteQueryOptions({
    queryKey: [...auditKeys.all, 'list', queryOf(search), routineOf(search), window] as const,
    queryFn: ({ pageParam, signal }) =>
      api.call(listAuditLog, {
        query: {
          ...queryOf(search),
          ...routineOf(search),
          ...window,
          limit: String(pageSize),
          offset: String(pageParam),
        },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: (last) => {
      const next = last.offset + last.entries.length
      return last.entries.length > 0 && next < last.total ? next : undefined
    },
    placeholderData: keepPreviousData,
  })

export const auditStatsQuery = (api: Client, search: AuditSearch, window: AuditWindow) =>
  queryOptions({
    queryKey: [...auditKeys.all, 'stats', routineOf(search), window] as const,
    queryFn: ({ signal }) =>
      api.call(getAuditLogStats, { query: { ...routineOf(search), ...window }, signal }),
    placeholderData: keepPreviousData,
  })

/** One entry, which never changes. */
export const auditEntryQuery = (api: Client, id: string) =>
  queryOptions({
    queryKey: auditKeys.entry(id),
    queryFn: ({ signal }) => api.call(getAuditLogEntry, { params: { event_id: id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
