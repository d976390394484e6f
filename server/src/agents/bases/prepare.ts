import type { Clock } from '../../kit/clock.ts'
import { createTurns } from '../../kit/turns.ts'
import type { Host } from '../../ports/host/port.ts'
import type { Log } from '../../ports/log.ts'
import type { RecordId, StoredEntry, Walked, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { NotLayered } from './archive.ts'

export type PrepareDeps = {
  clock: Pick<Clock, 'now' | 'wait'>
  log: Pick<Log, 'debug' | 'warn'>
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>
  host: Pick<Host, 'read'>
  /** Space for all bases; 0: none is prepared. */
  maxBytes: number
  /** A run that takes long prepares again at its end. */
  isWorking(agentId: string): Promise<boolean>
  /** Bytes of all bases at the agent's engine. Null: this process need not, or cannot, prepare one of this record. */
  usedBytes(agentId: string, record: RecordId): Promise<number | null>
  fill(agentId: string, record: RecordId): Promise<void>
}

export type Preparations = {
  /** Called for the record of each run. Resolves when nothing is left to do for it. A failure is logged. */
  prepare(agentId: string, record: RecordId): Promise<void>
  close(): void
}

/** The first fork of a smaller workspace takes less than a second. */
const minBytes = 32 * 1024 ** 2
const minEntries = 2000
/** This part of the disk is left for what agents need. */
const minFreeShare = 0.1
/** The agent must have had no run for this time, because the preparation slows down turns. */
const settleMs = 10_000
/** A workspace that changes completely in each run is not stored each time. */
const pauseMs = 10 * 60_000
const sizesPerBatch = 1000

/** Prepares bases of large workspaces one after another, so that the first fork need not wait for one. */
export function createPreparations(deps: PrepareDeps): Preparations {
  const { clock, log, history } = deps
  const inTurn = createTurns(1)
  const closing = new AbortController()
  /** The latest call for each agent. */
  const latest = new Map<string, symbol>()
  /** Records that need no base. */
  const small = new Map<string, string>()
  const pausedUntil = new Map<string, number>()

  const now = () => clock.now().getTime()

  async function prepareOne(agentId: string, record: RecordId): Promise<void> {
    if (small.get(agentId) === record.record || (pausedUntil.get(agentId) ?? 0) > now()) return
    if (await deps.isWorking(agentId)) return
    const used = await deps.usedBytes(agentId, record)
    if (used === null) return
    const { bytes, entries } = await sizeOf(record)
    if (bytes < minBytes && entries < minEntries) {
      small.set(agentId, record.record)
      return
    }
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
      if (some.length === sizesPerBatch) await add()
    }
    await add()
    return { bytes, entries }
  }

  return {
    async prepare(agentId, record) {
      if (closing.signal.aborted || deps.maxBytes === 0) return
      const call = Symbol(agentId)
      latest.set(agentId, call)
      await clock.wait(settleMs, closing.signal)
      if (latest.get(agentId) !== call) return
      latest.delete(agentId)
      try {
        await inTurn(async () => {
          if (!closing.signal.aborted) await prepareOne(agentId, record)
        })
      } catch (error) {
        if (closing.signal.aborted) return
        const level = error instanceof NotLayered ? 'debug' : 'warn'
        log[level]({ err: error, agent_id: agentId }, 'the base of a workspace was not prepared for forks')
      }
    },
    close() {
      closing.abort()
    },
  }
}
