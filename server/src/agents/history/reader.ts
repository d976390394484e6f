import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { workspaceRoot } from '@roost/contracts/agents/workspace'
import type {
  HistoryFolder,
  HistoryRecord,
  HistoryRecordDetails,
  RunChanges,
  WorkspaceChanges,
  WorkspaceDiff,
} from '@roost/contracts/agents/workspace-history'
import type { LeftOutPath } from '@roost/contracts/link/history'
import { Fault } from '../../kit/fault.ts'
import { createPause } from '../../kit/pause.ts'
import { createTurns } from '../../kit/turns.ts'
import type { Db } from '../../ports/database/port.ts'
import {
  type RecordId,
  type StoredEntry,
  UnknownRecord,
  type WorkspaceHistory,
} from '../../ports/workspace-history/port.ts'
import type { Agent } from '../records/index.ts'
import { formatPath, rejectPack } from '../workspace/index.ts'
import { archiveOf } from './archive.ts'
import { type ChangesPage, listChanges, noChanges, recordedChanges, sideOf } from './changes.ts'
import { diffOf } from './diff.ts'
import { createOwnersContents } from './omissions.ts'
import { isVisible, type PathQuery, recordPathOf, shownPath, textOf } from './paths.ts'
import { leftOutOf, storeName } from './rules.ts'
import { historyStore } from './store.ts'
import type { RecordRow } from './tables.ts'

/** `isOwner`: the reader may use the owner's files. */
export type HistoryReading = { agent: Pick<Agent, 'id' | 'name'>; isOwner: boolean }
export type DiffQuery = PathQuery & { from?: string | undefined; from_bytes?: string | undefined }
export type OpenedFile = { name: string; size: number; bytes: AsyncIterable<Uint8Array> }

/** Reads records. Every method throws `record_not_found` for records that the agent does not have. */
export type HistoryReader = {
  list(
    agentId: string,
    page: { before: number; limit: number },
  ): Promise<{ records: HistoryRecord[]; next_before: number | null }>
  record(reading: HistoryReading, id: string): Promise<HistoryRecordDetails>
  /** Pins it, or unpins it with `by` null. */
  pin(agentId: string, id: string, by: string | null): Promise<HistoryRecord>
  /** Differences from `since`, or from the record before it. */
  changes(
    reading: HistoryReading,
    compared: { record: string; since: string | undefined },
    page: ChangesPage,
  ): Promise<WorkspaceChanges>
  /** Throws `file_not_found` if neither record has the path, and `protected_path`. */
  diff(
    reading: HistoryReading,
    compared: { record: string; since: string | undefined },
    query: DiffQuery,
  ): Promise<WorkspaceDiff>
  runChanges(
    reading: HistoryReading,
    executionId: string,
    page: ChangesPage,
  ): Promise<Omit<RunChanges, 'agent_name'>>
  runDiff(reading: HistoryReading, executionId: string, query: DiffQuery): Promise<WorkspaceDiff>
  folder(
    reading: HistoryReading,
    record: string,
    query: PathQuery & { offset: number; limit: number },
  ): Promise<HistoryFolder>
  /** Throws `file_not_found`, `protected_path`, and `conflict` for a folder or a link. */
  file(reading: HistoryReading, record: string, query: PathQuery): Promise<OpenedFile>
  archive(
    reading: HistoryReading,
    record: string,
    query: PathQuery,
  ): Promise<{ name: string; bytes: Readable }>
}

type Reading = { agent: Pick<Agent, 'id'>; isOwner: boolean }

/** Comparisons at a time; each may hold many paths. */
const maxComparisons = 4
/** Folders that are listed at a time; each may have hundreds of thousands of entries. */
const maxListings = 4

export function createHistoryReader({ db, history }: { db: Db; history: WorkspaceHistory }): HistoryReader {
  const store = historyStore(db)
  const turns = createTurns(maxComparisons)
  const listings = createTurns(maxListings)
  /** A hard link or a copy of a credential file has its content under a harmless name. */
  const ownersContents = createOwnersContents(history)

  /** Attempts are the owner's alone. */
  async function requireRecord({ agent, isOwner }: Reading, id: string): Promise<RecordRow> {
    const row = await store.record(agent.id, id)
    if (!row || (row.reason === 'attempt' && !isOwner)) throw new Fault('record_not_found')
    return row
  }

  const idOf = ({ agent_id, id }: RecordRow) => ({ agent: storeName(agent_id), record: id })

  async function baseOf(reading: Reading, row: RecordRow, since: string | undefined): Promise<RecordRow> {
    const id = since ?? row.base_id
    if (id === null) throw new Fault('record_not_found', 'There is no record before this one.')
    return requireRecord(reading, id)
  }

  function compare({ isOwner }: HistoryReading, from: RecordRow, to: RecordRow, page: ChangesPage) {
    return turns(async () => {
      const all = await history.changes(idOf(from), idOf(to)).catch(unknownRecord)
      const recorded = recordedChanges(all, { before: leftOutOf(from), after: leftOutOf(to) })
      return listChanges(recorded, page, { isOwner, history })
    })
  }

  async function compareFile(
    { isOwner }: HistoryReading,
    { before, after }: { before: RecordRow; after: RecordRow },
    query: DiffQuery,
  ): Promise<WorkspaceDiff> {
    const path = requirePath(query, isOwner)
    const fromQuery = { path: query.from, path_bytes: query.from_bytes }
    const from = isNamed(fromQuery) ? recordPathOf(fromQuery, isOwner) : undefined
    const [old, now] = await Promise.all([
      history.entry(idOf(before), from ?? path),
      history.entry(idOf(after), path),
    ])
    if (!old && !now) throw new Fault('file_not_found', `There is no "${formatPath(textOf(path))}".`)
    // A renamed credential file has its content in the other record.
    for (const row of [before, after])
      for (const entry of [old, now]) await rejectOwnersContent(row, entry, isOwner)
    const diff = await turns(() => diffOf(history, { path, from, before: old, after: now }))
    return { ...diff, before_id: before.id, after_id: after.id }
  }

  async function rejectOwnersContent(
    row: RecordRow,
    entry: StoredEntry | null,
    isOwner: boolean,
  ): Promise<void> {
    if (isOwner || entry?.kind !== 'file') return
    const contents = await turns(() => ownersContents(idOf(row))).catch(unknownRecord)
    if (!contents.has(entry.content)) return
    const path = formatPath(textOf(entry.path))
    throw new Fault('protected_path', `Only the owner may read "${path}": it is a copy of a credential file.`)
  }

  async function visibleIn(record: RecordId, folder: string, isOwner: boolean): Promise<StoredEntry[]> {
    const all = await history.list(record, folder)
    if (!all) throw new Fault('file_not_found', `There is no folder "${formatPath(textOf(folder))}".`)
    const visible: StoredEntry[] = []
    const pause = createPause()
    for (const entry of all) {
      if (isVisible(entry.path, isOwner)) visible.push(entry)
      await pause()
    }
    return visible
  }

  async function runRecords(agentId: string, executionId: string) {
    const run = await store.runOf(executionId)
    if (run?.agent_id !== agentId) return null
    const [before, after] = await Promise.all(
      [run.before_id, run.after_id].map((id) => (id === null ? null : store.record(agentId, id))),
    )
    return { run, before: before ?? null, after: after ?? null }
  }

  return {
    async list(agentId, { before, limit }) {
      const rows = await store.list(agentId, { before, limit: limit + 1 })
      const shown = rows.slice(0, limit)
      return {
        records: shown.map(recordView),
        next_before: rows.length > limit ? (shown.at(-1)?.number ?? null) : null,
      }
    },

    async record({ agent, isOwner }, id) {
      const row = await requireRecord({ agent, isOwner }, id)
      // Written by this platform.
      const paths = JSON.parse(row.left_out) as LeftOutPath[]
      const shown = paths.filter(({ path }) => isVisible(path, isOwner))
      return {
        ...recordView(row),
        left_out: shown.map(({ path, reason }) => ({ ...shownPath(path), reason })),
      }
    },

    async pin(agentId, id, by) {
      if ((await store.record(agentId, id))?.reason === 'attempt')
        throw new Fault(
          'conflict',
          'The record of an attempt ends with its attempts. Keep the attempt instead.',
        )
      if (!(await store.pin(agentId, id, by))) throw new Fault('record_not_found')
      return recordView(await requireRecord({ agent: { id: agentId }, isOwner: true }, id))
    },

    async changes(reading, { record, since }, page) {
      const after = await requireRecord(reading, record)
      const before = await baseOf(reading, after, since)
      const listed = await compare(reading, before, after, page)
      return { before: recordView(before), after: recordView(after), ...listed }
    },

    async diff(reading, { record, since }, query) {
      const after = await requireRecord(reading, record)
      return compareFile(reading, { before: await baseOf(reading, after, since), after }, query)
    },

    async runChanges(reading, executionId, page) {
      const found = await runRecords(reading.agent.id, executionId)
      const none = { before: null, after: null, overlapping_runs: [], overlapping_count: 0 }
      if (!found)
        return { execution_id: executionId, status: 'not_recorded', reason: null, ...none, ...noChanges }
      const { run, before, after } = found
      const overlap = await store.overlapOf(run)
      const isComplete = run.outcome === 'recorded' && before !== null && after !== null
      return {
        execution_id: executionId,
        status: run.outcome === 'recorded' && !isComplete ? 'removed' : run.outcome,
        reason: run.reason,
        before: before && recordView(before),
        after: after && recordView(after),
        overlapping_runs: overlap.named,
        overlapping_count: overlap.count,
        ...(isComplete ? await compare(reading, before, after, page) : noChanges),
      }
    },

    async runDiff(reading, executionId, query) {
      const found = await runRecords(reading.agent.id, executionId)
      const { before = null, after = null } = found ?? {}
      if (!before || !after)
        throw new Fault('record_not_found', 'The records of this run are not complete, or were removed.')
      return compareFile(reading, { before, after }, query)
    },

    async folder({ agent, isOwner }, id, { offset, limit, ...query }) {
      const row = await requireRecord({ agent, isOwner }, id)
      const folder = recordPathOf(query, isOwner)
      const visible = await listings(() => visibleIn(idOf(row), folder, isOwner))
      const page = visible.slice(offset, offset + limit)
      const sizes = await history.sizes(page)
      return {
        record: recordView(row),
        ...shownPath(folder),
        entries: page.map((entry, index) => ({
          name: posix.basename(textOf(entry.path)),
          ...shownPath(entry.path),
          ...sideOf(entry, sizes[index] ?? 0),
          owner: entry.owner,
        })),
        total: visible.length,
      }
    },

    async file({ agent, isOwner }, id, query) {
      const row = await requireRecord({ agent, isOwner }, id)
      const path = requirePath(query, isOwner)
      const shown = formatPath(textOf(path))
      const entry = await history.entry(idOf(row), path)
      if (!entry) throw new Fault('file_not_found', `There is no "${shown}".`)
      if (entry.kind !== 'file') throw new Fault('conflict', `"${shown}" is a ${entry.kind}, not a file.`)
      await rejectOwnersContent(row, entry, isOwner)
      const [[size = 0], bytes] = await Promise.all([history.sizes([entry]), history.read(idOf(row), path)])
      if (!bytes) throw new Fault('file_not_found', `There is no "${shown}".`)
      return { name: posix.basename(textOf(path)), size, bytes }
    },

    async archive({ agent, isOwner }, id, query) {
      const row = await requireRecord({ agent, isOwner }, id)
      const folder = recordPathOf(query, isOwner)
      rejectPack(posix.join(workspaceRoot, textOf(folder)), isOwner)
      if (!(await history.list(idOf(row), folder)))
        throw new Fault('file_not_found', `There is no folder "${formatPath(textOf(folder))}".`)
      const own = isOwner
        ? new Set<string>()
        : await turns(() => ownersContents(idOf(row))).catch(unknownRecord)
      const bytes = archiveOf(history, {
        record: idOf(row),
        folder,
        name: folder === '' ? agent.name : folder.slice(folder.lastIndexOf('/') + 1),
        modified: new Date(row.created_at),
        isLeftOut: ({ path, content }) => !isVisible(path, isOwner) || own.has(content),
      })
      const name = folder === '' ? agent.name : posix.basename(textOf(folder))
      return { name: `${name}-${row.number}.tar.gz`, bytes }
    },
  }
}

const isNamed = ({ path, path_bytes }: PathQuery) => path !== undefined || path_bytes !== undefined

function requirePath(query: PathQuery, isOwner: boolean): string {
  const path = isNamed(query) ? recordPathOf(query, isOwner) : ''
  if (path === '') throw new Fault('validation_error', 'The query needs "path" or "path_bytes" of a file.')
  return path
}

/** Retention removed it meanwhile. */
function unknownRecord(error: unknown): never {
  if (error instanceof UnknownRecord) throw new Fault('record_not_found', undefined, {}, { cause: error })
  throw error
}

export function recordView(row: RecordRow): HistoryRecord {
  const { agent_id: _, left_out: __, pinned_by: ___, rules: ____, ...shown } = row
  const { attempt_set_id: _____, is_changed, pinned, ...rest } = shown
  return { ...rest, is_changed: is_changed === 1, pinned: pinned === 1 }
}
