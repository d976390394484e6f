import {
  getHistoryRecord,
  getHistorySettings,
  getRecordArchive,
  getRecordChanges,
  getRecordDiff,
  getRecordFile,
  listHistory,
  listRecordFiles,
  pinHistoryRecord,
  putHistorySettings,
} from '@roost/contracts/agents/workspace-history'
import { agentRoute, type Route, type RouteAgent, streamAnswer } from '../../http/route.ts'
import type { Relation } from '../../identity/access/index.ts'
import { disposition, inlineType, ownsSecrets, safeHeaders } from '../workspace/index.ts'
import type { HistorySettingsService } from './history-settings.ts'
import type { HistoryReader, HistoryReading } from './reader.ts'

export function historyRoutes({
  reader,
  settings,
}: {
  reader: HistoryReader
  settings: HistorySettingsService
}): Route[] {
  const readingOf = ({ agent, relation }: { agent: RouteAgent; relation: Relation }): HistoryReading => ({
    agent,
    isOwner: ownsSecrets(relation),
  })

  return [
    agentRoute(listHistory, ({ agent, query }) => reader.list(agent.id, query)),
    agentRoute(getHistorySettings, ({ agent }) => settings.view(agent.id)),
    agentRoute(putHistorySettings, ({ agent, body, caller, request }) => {
      request.note({ ...body })
      return settings.change(agent.id, body, caller.user.role === 'admin')
    }),
    agentRoute(getHistoryRecord, (call) => reader.record(readingOf(call), call.params.record)),
    agentRoute(pinHistoryRecord, ({ agent, params, body, caller, request }) => {
      request.note({ record: params.record, pinned: body.pinned })
      return reader.pin(agent.id, params.record, body.pinned ? caller.user.id : null)
    }),
    agentRoute(getRecordChanges, (call) => {
      const { since, ...page } = call.query
      return reader.changes(readingOf(call), { record: call.params.record, since }, page)
    }),
    agentRoute(getRecordDiff, (call) => {
      const { since, ...query } = call.query
      return reader.diff(readingOf(call), { record: call.params.record, since }, query)
    }),
    agentRoute(listRecordFiles, (call) => reader.folder(readingOf(call), call.params.record, call.query)),
    agentRoute(getRecordFile, async (call) => {
      const { inline, ...query } = call.query
      const { name, size, bytes } = await reader.file(readingOf(call), call.params.record, query)
      const type = inline ? inlineType(name) : null
      return streamAnswer(type ?? 'application/octet-stream', bytes, {
        headers: {
          ...safeHeaders,
          'content-disposition': disposition(type === null ? 'attachment' : 'inline', name),
          'content-length': String(size),
        },
      })
    }),
    agentRoute(getRecordArchive, async (call) => {
      const { name, bytes } = await reader.archive(readingOf(call), call.params.record, call.query)
      return streamAnswer('application/gzip', bytes, {
        headers: { ...safeHeaders, 'content-disposition': disposition('attachment', name) },
      })
    }),
  ]
}
