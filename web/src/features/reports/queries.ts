import type { Client } from '@roost/contracts/client'
import {
  getReport,
  getReportStats,
  getRosterReport,
  listReports,
  listRosterReports,
} from '@roost/contracts/operations/reports'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { staleOn } from '../../live/stale.ts'

export const reportKey = ['reports'] as const

staleOn(['agent_report'], reportKey)

const pageSize = 100

export type ReportFilter = { agent?: string | undefined; type?: string | undefined }

/** Reports without their payloads, newest first, loaded in pages. */
export const reportsQuery = (api: Client, { agent, type }: ReportFilter) =>
  infiniteQueryOptions({
    queryKey: [...reportKey, 'list', { agent, type }],
    queryFn: ({ pageParam, signal }) =>
      api.call(listReports, {
        query: {
          limit: String(pageSize),
          offset: String(pageParam),
          ...(agent ? { agent_name: agent } : {}),
          ...(type ? { report_type: type } : {}),
        },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: (last, all) => (last.length < pageSize ? undefined : all.length * pageSize),
  })

export const reportStatsQuery = (api: Client) =>
  queryOptions({
    queryKey: [...reportKey, 'stats'],
    queryFn: ({ signal }) => api.call(getReportStats, { signal }),
  })

/** One report, which never changes. */
export const reportQuery = (api: Client, id: string) =>
  queryOptions({
    queryKey: [...reportKey, 'one', id],
    queryFn: ({ signal }) => api.call(getReport, { params: { id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The newest reports that an agent shows in the Workspace. */
export const rosterReportsQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...reportKey, 'roster', name],
    queryFn: ({ signal }) =>
      api.call(listRosterReports, { params: { name }, query: { limit: String(pageSize) }, signal }),
  })

export const rosterReportQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...reportKey, 'roster', name, id],
    queryFn: ({ signal }) => api.call(getRosterReport, { params: { name, id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
