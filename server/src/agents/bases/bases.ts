import type { Runtime } from '@roost/contracts/agents/agent'
import type { Loop } from '../../background/loops.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { ContainerError, type Containers, type VolumeLayers } from '../../ports/containers/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Host } from '../../ports/host/port.ts'
import type { Log } from '../../ports/log.ts'
import { type RecordId, UnknownRecord, type WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { storeName } from '../history/index.ts'
import { type EngineIdentity, type Lock, volumeLabels, volumesOf } from '../lifecycle/index.ts'
import { type Agent, agentStore } from '../records/index.ts'
import { archiveOfRecord, NotLayered, requireArchivable } from './archive.ts'
import { archiveOfDifference, type Difference, differenceOf } from './difference.ts'
import { createPreparations, type Preparations } from './prepare.ts'
import { baseStore } from './store.ts'
import type { BaseRow } from './tables.ts'

export type BasesDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'debug' | 'info' | 'warn'>
  host: Pick<Host, 'read'>
  containers: Pick<Containers, 'layers' | 'listVolumes' | 'removeVolume'>
  history: Pick<WorkspaceHistory, 'walk' | 'changes' | 'entry' | 'sizes' | 'readAll'>
  engine: Pick<EngineIdentity, 'read'>
  lock: Pick<Lock, 'run' | 'tryRun' | 'assertHeld'>
  /** The image of a runtime, which is built or pulled first. */
  imageFor(runtime: Runtime): Promise<string>
  /** Whether runs of the agent are working. */
  isWorking(agentId: string): Promise<boolean>
  /** Bytes of bases that are prepared, or kept without layers, at each engine. */
  maxBytes: number
}

export type Bases = {
  /**
   * Creates the workspace volume of a new agent with the content of a record, before its container is created. Nothing
   * is copied, except by the first one of each record. Returns `unsupported` without a volume, if the engine cannot do
   * it or not for this record. Throws `record_not_found` and `ContainerError`.
   */
  startFrom(
    source: { agentId: string; record: string },
    agent: Pick<Agent, 'name' | 'volume_base' | 'runtime'>,
  ): Promise<'layered' | 'unsupported'>
  /**
   * Called for the record of each run. After a pause of the agent, prepares its base, if the workspace is large and there
   * is room. Resolves at the end, also after a failure.
   */
  prepare(agentId: string, recordId: string): Promise<void>
  /** Removes the base of a record that is not forked again, unless workspaces are layered on it. */
  drop(recordId: string): Promise<void>
  loops: Loop[]
  /** Prepares no further bases. */
  close: Preparations['close']
}

/** Bases without layers are kept this long after the last fork or run, if there is room. */
const keepMs = 6 * 3_600_000
const everySeconds = 600
/** How long a fork waits for the fill of another process. */
const maxWaitMs = 3_600_000
const volumePrefix = 'workspace-base-'

export function createBases(deps: BasesDeps): Bases {
  const { db, clock, log, containers, history, engine, lock, imageFor } = deps
  const store = baseStore(db)
  /** Volumes without a row, found by the last run: a row may be younger than the list. */
  let strays = new Set<string>()

  const lockOf = (engineId: string, recordId: string) => `base:${engineId}:${recordId}`

  /** Requires the lock, so a base in state `filling` was left by a killed process. */
  async function filledBase(
    layers: VolumeLayers,
    { engineId, source, runtime, lockName }: Filling,
  ): Promise<BaseRow> {
    for (const row of await store.of(engineId, source.record)) {
      if (row.state === 'filled') return row
      await removeBase(row)
    }
    const image = await imageFor(runtime)
    if (!(await layers.canUse(image))) throw new NotLayered('the engine has no layers')
    const record = { agent: storeName(source.agentId), record: source.record }
    const whole = await similarBase(engineId, source.agentId)
    const difference = whole && (await differenceFrom(whole, record))
    if (whole && difference) {
      const archive = () => archiveOfDifference(history, record, difference, clock.now())
      // The loop keeps it meanwhile.
      await store.used(whole.id, timestamp(clock.now()))
      try {
        return await fill(layers, { source, engineId, lockName }, { image, archive, on: whole.volume })
      } catch (error) {
        if (!hasFault(error, 'base_missing')) throw error
        await removeBase(whole).catch(unlessInUse)
      }
    }
    await requireArchivable(history, record)
    const archive = () => archiveOfRecord(history, record, clock.now())
    return fill(layers, { source, engineId, lockName }, { image, archive, on: null })
  }

  /** A whole base that records of this agent may resemble: its own one, or the one that its workspace started from. */
  async function similarBase(engineId: string, agentId: string): Promise<BaseRow | null> {
    const own = await store.newestWhole(engineId, agentId)
    const origin = own ? null : (await agentStore(db).byId(agentId))?.forked_from
    if (!origin) return own
    const found = (await store.of(engineId, origin.record_id)).find(({ state }) => state === 'filled') ?? null
    return found?.on_volume ? store.ofVolume(engineId, found.on_volume) : found
  }

  /** Null if the record is not almost that of the base, or the latter was removed. */
  async function differenceFrom(base: BaseRow, record: RecordId): Promise<Difference | null> {
    try {
      const from = { agent: storeName(base.agent_id), record: base.record_id }
      return await differenceOf(history, from, record)
    } catch (error) {
      if (error instanceof UnknownRecord) return null
      throw error
    }
  }

  async function fill(
    layers: VolumeLayers,
    { source, engineId, lockName }: Omit<Filling, 'runtime'>,
    content: { image: string; archive: () => AsyncIterable<Buffer>; on: string | null },
  ): Promise<BaseRow> {
    const { image, archive, on } = content
    const id = newId()
    const now = timestamp(clock.now())
    const row: BaseRow = {
      ...{ id, engine_id: engineId, agent_id: source.agentId, record_id: source.record },
      ...{ volume: `${volumePrefix}${id}`, on_volume: on, state: 'filling', bytes: 0 },
      ...{ created_at: now, used_at: now },
    }
    await store.insert(row)
    let bytes = 0
    async function* counted() {
      for await (const piece of archive()) {
        bytes += piece.length
        yield piece
      }
    }
    try {
      await layers.fill(row.volume, {
        ...{ labels: { 'roost.platform': 'workspace-base' }, image, archive: counted() },
        ...(on === null ? {} : { on }),
      })
      lock.assertHeld(lockName)
      if (!(await store.filled(id, bytes))) throw new ContainerError('base_missing', row.volume)
    } catch (error) {
      // The loop tries again.
      await removeBase(row).catch(() => {})
      throw error
    }
    log.info({ volume: row.volume, bytes, on }, 'a workspace was stored as the base of further ones')
    return { ...row, state: 'filled', bytes }
  }

  /** Throws volume_in_use while volumes are based on it. */
  async function removeBase({ id, volume }: BaseRow): Promise<void> {
    await containers.removeVolume(volume)
    await store.remove(id)
  }

  async function layer(layers: VolumeLayers, agent: Parameters<Bases['startFrom']>[1], filling: Filling) {
    const name = volumesOf(agent).workspace
    const labels = volumeLabels(agent, 'workspace')
    const add = ({ volume }: BaseRow) => layers.add(name, { base: volume, labels })
    const row = await filledBase(layers, filling)
    try {
      await add(row).catch(async (error: unknown) => {
        if (!hasFault(error, 'base_missing')) throw error
        // The engine has lost it.
        await removeBase(row)
        await add(await filledBase(layers, filling))
      })
    } catch (error) {
      // The agent is new, so nobody has written to it.
      if (!hasFault(error, 'name_taken')) await containers.removeVolume(name).catch(() => {})
      throw error
    }
    await store.used(row.id, timestamp(clock.now()))
  }

  /** Two forks of one record share a fill; the second one waits for it, in whichever process it is. */
  async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const giveUpAt = clock.now().getTime() + maxWaitMs
    for (;;) {
      let hasBegun = false
      try {
        return await lock.run(name, () => {
          hasBegun = true
          return work()
        })
      } catch (error) {
        const isBusy = !hasBegun && error instanceof Fault && error.code === 'agent_busy'
        if (!isBusy || clock.now().getTime() >= giveUpAt) throw error
      }
    }
  }

  async function collect(signal: AbortSignal): Promise<void> {
    const engineId = await engine.read()
    const found = (await containers.listVolumes()).filter((name) => name.startsWith(volumePrefix))
    const rows = await store.all(engineId)
    const known = new Set(rows.map(({ volume }) => volume))
    const unknown = found.filter((name) => !known.has(name))
    // Layers of interrupted probes come before their bases.
    for (const name of unknown.filter((each) => strays.has(each)).toSorted((a, b) => b.length - a.length))
      await containers.removeVolume(name).catch(unlessInUse)
    strays = new Set(unknown)
    const old = clock.now().getTime() - keepMs
    let unused = 0
    // Newest first: the oldest ones are removed.
    for (const row of rows.toReversed()) {
      if (signal.aborted) return
      const isKept =
        row.state === 'filled' && Date.parse(row.used_at) > old && unused + row.bytes <= deps.maxBytes
      if (isKept) {
        unused += row.bytes
        continue
      }
      await removeUnused(row)
    }
  }

  /** Keeps a base that is used meanwhile. */
  async function removeUnused({ id, engine_id, record_id, used_at }: BaseRow): Promise<void> {
    await lock.tryRun(lockOf(engine_id, record_id), async () => {
      const current = (await store.of(engine_id, record_id)).find((row) => row.id === id)
      if (current?.used_at === used_at) await removeBase(current).catch(unlessInUse)
    })
  }

  /** Null also if an existing base serves the record: a fork then needs only the differences. */
  async function usedBytes(agentId: string, record: RecordId): Promise<number | null> {
    const agent = await agentStore(db).byId(agentId)
    const engineId = await engine.read()
    // Attempts are never forked.
    if (!agent || agent.attempt_set_id !== null || agent.engine_id !== engineId) return null
    const whole = await similarBase(engineId, agentId)
    if (whole && (await differenceFrom(whole, record))) {
      await store.used(whole.id, timestamp(clock.now()))
      return null
    }
    return (await store.all(engineId)).reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async function prepareBase(agentId: string, { record }: RecordId): Promise<void> {
    const { layers } = containers
    const agent = await agentStore(db).byId(agentId)
    if (!layers || !agent) return
    const engineId = await engine.read()
    const lockName = lockOf(engineId, record)
    const source = { agentId, record }
    await inTurn(lockName, () => filledBase(layers, { engineId, source, runtime: agent.runtime, lockName }))
  }

  const preparations = createPreparations({
    ...{ clock, log, history, host: deps.host, maxBytes: deps.maxBytes, usedBytes },
    isWorking: deps.isWorking,
    fill: prepareBase,
  })

  return {
    async prepare(agentId, record) {
      if (containers.layers) await preparations.prepare(agentId, { agent: storeName(agentId), record })
    },
    close: preparations.close,
    async startFrom(source, agent) {
      const { layers } = containers
      if (!layers) return 'unsupported'
      const engineId = await engine.read()
      const lockName = lockOf(engineId, source.record)
      const filling = { engineId, source, runtime: agent.runtime, lockName }
      try {
        await inTurn(lockName, () => layer(layers, agent, filling))
        return 'layered'
      } catch (error) {
        if (error instanceof NotLayered) return 'unsupported'
        if (hasFault(error, 'engine_fault')) {
          log.warn({ err: error }, 'a workspace could not be stored as a base; it is copied instead')
          return 'unsupported'
        }
        if (error instanceof UnknownRecord)
          throw new Fault('record_not_found', undefined, {}, { cause: error })
        throw error
      }
    },
    async drop(recordId) {
      if (!containers.layers) return
      for (const row of await store.of(await engine.read(), recordId)) await removeUnused(row)
    },
    loops: containers.layers
      ? [{ name: 'agents.bases', everySeconds, deadlineSeconds: 1800, per: 'engine', run: collect }]
      : [],
  }
}

type Filling = {
  engineId: string
  source: { agentId: string; record: string }
  runtime: Runtime
  lockName: string
}

function hasFault(error: unknown, fault: ContainerError['fault']): boolean {
  return error instanceof ContainerError && error.fault === fault
}

function unlessInUse(error: unknown): void {
  if (!hasFault(error, 'volume_in_use')) throw error
}
