import { randomUUID } from 'node:crypto'
import type { RecordReason } from '@roost/contracts/agents/history'
import { type HistoryRules, type LeftOutPath, maxLeftOutPaths } from '@roost/contracts/link/history'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import {
  type Change,
  HistoryFull,
  UnknownRecord,
  type WorkspaceHistory,
} from '../../ports/workspace-history/port.ts'
import { agentStore } from '../records/index.ts'
import { recordedChanges } from './changes.ts'
import { WorkspaceRestoring } from './faults.ts'
import { InvalidAnswer, type PullOptions, pullScan } from './pull.ts'
import { assumedBaseOf, type Base, type ForkOrigin } from './record-base.ts'
import type { RecordTurns } from './record-turns.ts'
import { restoreStore } from './restore-store.ts'
import { leftOutOf, storeName } from './rules.ts'
import { historyStore } from './store.ts'
import type { RecordRow } from './tables.ts'

export type MakeRecordDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  link: Pick<AgentLink, 'call'>
  history: WorkspaceHistory
  turns: RecordTurns
  rulesOf(agentId: string): Promise<HistoryRules>
  /** Bytes that the agent's next record may have. */
  roomOf(agentId: string): Promise<number>
  /** The store has received this much for the agent. */
  received(agentId: string, bytes: number): void
  /** Measures what the agent's records need. Returns false above its quota. */
  isWithinQuota(agentId: string): Promise<boolean>
  /** Removes old records so that one with this many bytes fits. Returns false if it cannot. */
  makeRoom(agentId: string, bytes: number): Promise<boolean>
}

export type RecordRequest = {
  /** Called when the record is stored, because a slow record may have another reason by then. */
  reason(): RecordReason
  /** The record that the workspace was filled from, by a restore or a fork. */
  sourceId?: string
  /** For the first record of a fork. */
  fork?: ForkOrigin
  /** Without any change, the latest record is returned whatever the reason is. */
  mayShare?: boolean
  /** Account that asked for it. */
  pinnedBy?: string
  signal?: AbortSignal
}

export type MadeRecord = {
  record: RecordRow
  /** False: it equals the latest record, which is returned. */
  isNew: boolean
}

/** A scan of 600,000 entries on a slow disk. */
const scanSeconds = 10 * 60
const limitMs = 30 * 60_000
/** The agent's index may belong to an earlier record, if the platform was killed before it told the agent. */
const knownBases = 5

/**
 * Records the workspace of a linked agent. Without any change, runs share the latest record; other reasons always make a
 * new one. Throws what `reasonOf` names, and `WorkspaceRestoring`.
 */
export function createMakeRecord(deps: MakeRecordDeps) {
  const { db, clock, link, history, turns } = deps
  const store = historyStore(db)

  /** Runs wait for restores. Other records may be requested at any time, also by another process. */
  async function refuseDuringRestore(agentId: string, request: RecordRequest): Promise<void> {
    if (isAroundRun(request)) return
    const restore = await restoreStore(db).openOf(agentId)
    if (restore && restore.state !== 'waiting') throw new WorkspaceRestoring()
  }

  /** `lost`: records whose content the store no longer has. `hasRoom`: old records were removed for this one. */
  async function make(
    agentId: string,
    request: RecordRequest,
    signal: AbortSignal,
    { lost = [], hasRoom = false }: { lost?: readonly string[]; hasRoom?: boolean } = {},
  ): Promise<MadeRecord> {
    const [recent, rules] = await Promise.all([
      store.list(agentId, { before: null, limit: knownBases }),
      deps.rulesOf(agentId),
    ])
    const known = recent.map(({ id }) => id).filter((id) => !lost.includes(id))
    const [latest = null] = recent
    const fork = latest === null ? request.fork : undefined
    const since = fork?.untouchedSince ?? null
    const scan = await link.call(
      agentId,
      'history.scan',
      {
        ...{ rules, bases: known, full: !isAroundRun(request) },
        ...(since !== null && { untouched_since: since }),
      },
      { signal, timeoutSeconds: scanSeconds },
    )
    if (scan.base !== null ? !known.includes(scan.base) : scan.handle === null)
      throw new InvalidAnswer('The scan names another base.')
    const { handle } = scan
    if (handle === null && latest && scan.base === latest.id && mayShare(request))
      return { record: latest, isNew: false }
    let base: Base | null = null
    try {
      base = await baseOf(agentId, scan.base, { latest: known[0] ?? null, lost, fork })
      const opened = await openDraft(agentId, base)
      if (opened)
        return await fill(opened, {
          ...{ agentId, handle, base, latest, rules, leftOut: scan.left_out, request, signal },
          untouched: scan.untouched ?? null,
        })
    } catch (error) {
      const isFull = error instanceof HistoryFull && !hasRoom && scan.bytes !== undefined
      if (!isFull || !(await deps.makeRoom(agentId, scan.bytes ?? 0))) throw error
      return await make(agentId, request, signal, { lost, hasRoom: true })
    } finally {
      if (handle !== null) void link.call(agentId, 'history.close', { handle }).catch(() => {})
    }
    return make(agentId, request, signal, { lost: [...lost, base?.record.record ?? ''], hasRoom })
  }

  /** `compared`: the record that the agent has compared its workspace with. */
  async function baseOf(
    agentId: string,
    compared: string | null,
    known: Parameters<typeof assumedBaseOf>[2],
  ): Promise<Base | null> {
    if (compared !== null) return { record: { agent: storeName(agentId), record: compared }, assumed: null }
    const agent = await agentStore(db).byId(agentId)
    return agent && assumedBaseOf(history, agent, known)
  }

  async function openDraft(agentId: string, base: Base | null) {
    const maxBytes = await deps.roomOf(agentId)
    if (maxBytes === 0) throw new HistoryFull()
    try {
      return await history.open({
        ...{ agent: storeName(agentId), maxBytes },
        ...(base ? { base: base.record.record, baseAgent: base.record.agent } : { base: null }),
      })
    } catch (error) {
      if (error instanceof UnknownRecord && base !== null) return null
      throw error
    }
  }

  async function fill(
    draft: Awaited<ReturnType<WorkspaceHistory['open']>>,
    scan: {
      agentId: string
      handle: string | null
      base: Base | null
      latest: RecordRow | null
      rules: HistoryRules
      leftOut: { paths: LeftOutPath[]; count: number }
      untouched: PullOptions['untouched']
      request: RecordRequest
      signal: AbortSignal
    },
  ): Promise<MadeRecord> {
    await using opened = draft
    const { agentId, handle, latest, rules, leftOut, untouched, request, signal } = scan
    const agent = storeName(agentId)
    const base = scan.base && (scan.base.assumed ?? 'compared')
    const unreadable =
      handle === null ? [] : await pullScan({ agentId, handle, base, untouched, draft: opened, link, signal })
    signal.throwIfAborted()
    const id = randomUUID()
    const { receivedBytes, isChanged } = await opened.commit(id)
    deps.received(agentId, receivedBytes)
    const isForeign = scan.base !== null && scan.base.record.agent !== agent
    const baseId = isForeign ? null : (scan.base?.record.record ?? null)
    if (isForeign && !(await deps.isWithinQuota(agentId))) {
      await history.remove(agent, [id])
      throw new HistoryFull()
    }
    if (!isChanged && latest && baseId === latest.id && mayShare(request)) {
      await history.remove(agent, [id])
      await tell(agentId, handle, latest.id)
      return { record: latest, isNew: false }
    }
    const before = latest && (await history.list({ agent, record: latest.id }, '')) ? latest : null
    const named = [...unreadable, ...leftOut.paths].slice(0, maxLeftOutPaths)
    const changes = before ? await history.changes({ agent, record: before.id }, { agent, record: id }) : []
    const counts = countsOf(
      recordedChanges(changes, {
        before: before ? leftOutOf(before) : [],
        after: named.map(({ path }) => path),
      }),
    )
    const record = await insert({
      ...{ id, agent_id: agentId, reason: request.reason(), created_at: timestamp(clock.now()) },
      ...{ base_id: before?.id ?? null, source_id: request.sourceId ?? null },
      ...counts,
      is_changed: before === null || before.id !== baseId || isChanged ? 1 : 0,
      received_bytes: receivedBytes,
      rules: JSON.stringify(rules),
      left_out: JSON.stringify(named),
      left_out_count: leftOut.count + unreadable.length,
      ...{ pinned: request.pinnedBy ? 1 : 0, pinned_by: request.pinnedBy ?? null, attempt_set_id: null },
    })
    await tell(agentId, handle, id)
    return { record, isNew: true }
  }

  /** An agent that was deleted meanwhile leaves nothing in the store. */
  async function insert(row: Omit<RecordRow, 'number'>): Promise<RecordRow> {
    try {
      return await db.atomically((tx) => historyStore(tx).insert(row))
    } catch (error) {
      if (!(await agentStore(db).byId(row.agent_id))) await history.remove(storeName(row.agent_id), [row.id])
      throw error
    }
  }

  /** If the agent does not learn it, its next scan is compared with an earlier record. */
  async function tell(agentId: string, handle: string | null, record: string): Promise<void> {
    if (handle !== null) await link.call(agentId, 'history.commit', { handle, record }).catch(() => {})
  }

  const limited = (...signals: (AbortSignal | undefined)[]) =>
    AbortSignal.any([AbortSignal.timeout(limitMs), ...signals.filter((signal) => signal !== undefined)])

  type Make = (request: RecordRequest) => Promise<MadeRecord>
  return {
    make: (agentId: string, request: RecordRequest) =>
      turns(
        agentId,
        async (lost) => {
          await refuseDuringRestore(agentId, request)
          return make(agentId, request, limited(request.signal, lost))
        },
        request.signal,
      ),
    /** For work during which nobody else may record the workspace. `signal` ends the wait for it. */
    inTurn: <T>(agentId: string, work: (make: Make) => Promise<T>, signal?: AbortSignal): Promise<T> =>
      turns(
        agentId,
        (lost) => work((request) => make(agentId, request, limited(request.signal, lost))),
        signal,
      ),
  }
}

function isAroundRun({ reason }: RecordRequest): boolean {
  return ['before_run', 'after_run'].includes(reason())
}

function mayShare({ reason, sourceId, mayShare = false }: RecordRequest): boolean {
  if (mayShare) return true
  return sourceId === undefined && ['before_run', 'after_run', 'before_restore'].includes(reason())
}

export function countsOf(
  changes: readonly Change[],
): Pick<RecordRow, 'added' | 'changed' | 'deleted' | 'renamed'> {
  const counts = { added: 0, changed: 0, deleted: 0, renamed: 0 }
  for (const { change, before, after } of changes) {
    if ((after ?? before)?.kind === 'folder') continue
    counts[change === 'attributes' ? 'changed' : change] += 1
  }
  return counts
}
