import type { Clock } from '../../kit/clock.ts'
import type { Host } from '../../ports/host/port.ts'
import type { Log } from '../../ports/log.ts'
import type { RecordId, StoredEntry, Walked, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { NotLayered } from './archive.ts'

export type PrepareDeps = {
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'debug' | 'warn'>
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>
  host: Pick<Host, 'read'>
  /** Space for all bases; 0: none is prepared. */
  maxBytes: number
  /** Bytes of all bases at the agent's engine. Null: this process need not, or cannot, prepare one of this record. */
  usedBytes(agentId: string, record: RecordId): Promise<number | null>
  fill(agentId: string, record: RecordId): Promise<void>
}

export type Preparations = {
  /** Resolves when nothing is left to prepare. A failure is logged. */
  prepare(agentId: string, record: RecordId): Promise<void>
  close(): void
}

/** The first fork of a smaller workspace takes less than a second. */
const minBytes = 32 * 1024 ** 2
const minEntries = 2000
/** This part of the disk is left for what agents need. */
const minFreeShare = 0.1
/** A workspace that changes completely in each run is not stored each time. */
const pauseMs = 10 * 60_000
const sizesAtOnce = 1000

/** Prepares bases of large workspaces one after another, so that the first fork need not wait for one. */
export function createPreparations(deps: PrepareDeps): Preparations {
  const { clock, log, history } = deps
  const due = new Map<string, RecordId>()
  const pausedUntil = new Map<string, number>()
  let isClosed = false
  let working: Promise<void> | null = null

  const now = () => clock.now().getTime()

  async function prepareOne(agentId: string, record: RecordId): Promise<void> {
    const used = await deps.usedBytes(agentId, record)
    if (used === null) return
    const { bytes, entries } = await sizeOf(record)
    if (bytes < minBytes && entries < minEntries) return
    pausedUntil.set(agentId, now() + pauseMs)
    const { disk } = await deps.host.read()
    const freeAfter = disk.totalBytes - disk.usedBytes - bytes
    if (used + bytes > deps.maxBytes || freeAfter < disk.totalBytes * minFreeShare) return
    await deps.fill(agentId, record)
  }

  async function sizeOf(record: RecordId): Promise<{ bytes: number; entries: number }> {
    let bytes = 0
    let entries = 0
    let some: StoredEntry[] = []
    const add = async () => {
      for (const size of await history.sizes(some)) bytes += size
      some = []
    }
    for await (const walked of history.walk(record, { withContents: false })) {
      // Without contents it yields entries only.
      some.push((walked as Walked).entry)
      entries += 1
      if (some.length === sizesAtOnce) await add()
    }
    await add()
    return { bytes, entries }
  }

  async function work(): Promise<void> {
    for (const [agentId, record] of due) {
      due.delete(agentId)
      if (isClosed) break
      await prepareOne(agentId, record).catch((error: unknown) => {
        if (isClosed) return
        const level = error instanceof NotLayered ? 'debug' : 'warn'
        log[level]({ err: error, agent_id: agentId }, 'the base of a workspace was not prepared for forks')
      })
    }
    working = null
  }

  return {
    async prepare(agentId, record) {
      if (isClosed || deps.maxBytes === 0) return
      const until = pausedUntil.get(agentId) ?? 0
      if (until > now()) return
      pausedUntil.delete(agentId)
      due.set(agentId, record)
      working ??= work()
      await working
    },
    close() {
      isClosed = true
    },
  }
}
