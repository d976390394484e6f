import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import type { VolumeInspectInfo } from 'dockerode'
import type { Clock } from '../../../kit/clock.ts'
import { archiveEnd, paddingOf, type TarEntry, writeHeader } from '../../../kit/tar.ts'
import {
  archiveRoot,
  ContainerError,
  type ContainerSpec,
  type FillOptions,
  type VolumeLayers,
} from '../port.ts'
import { type Ask, withoutQuery } from './connect.ts'
import { baseMark, baseOf, filledOf, fillerKind, overlayOptions, partOf, upperOf, workOf } from './overlay.ts'

type Labels = Record<string, string>

export type LayersDeps = {
  docker: Docker
  ask: Ask
  install: string
  clock: Pick<Clock, 'now'>
  /** Whether layers may be tried at all. */
  mayUse(): Promise<boolean>
  create(spec: ContainerSpec): Promise<{ id: string }>
  remove(id: string): Promise<void>
  /** Id of a container of this installation; null if there is none. */
  containerNamed(name: string): Promise<string | null>
  /** See `flushVolume`. */
  flush(mountpoint: string): Promise<void>
  inspectVolume(name: string): Promise<VolumeInspectInfo | null>
  listVolumes(): Promise<VolumeInspectInfo[]>
  /** Removes one volume of the engine. */
  removeOne(name: string): Promise<void>
  removeVolume(name: string): Promise<void>
}

/** A workspace of many gigabytes on a slow disk. */
const fillSeconds = { extraSeconds: 3600 }
/** After a refusal; the engine may have been updated. */
const retryMs = 10 * 60_000

export function createLayers(deps: LayersDeps) {
  const { docker, ask, install, clock } = deps
  const isOurs = (volume: VolumeInspectInfo | null) => volume?.Labels?.['roost.install'] === install
  let probe: { result: Promise<boolean>; at: number } | null = null

  async function createPlain(name: string, labels: Labels): Promise<VolumeInspectInfo> {
    const body = { Name: name, Labels: { ...labels, 'roost.install': install } }
    await ask(`create volume ${name}`, (abortSignal) => docker.createVolume(withoutQuery(body, abortSignal)))
    const created = await deps.inspectVolume(name)
    // The engine also succeeds for an existing volume of another owner.
    if (!created || !isOurs(created)) throw taken(name)
    return created
  }

  /** A container that never runs: through it the engine writes into the volume as root. */
  function createFiller(volume: string, image: string) {
    return deps.create({
      ...{ name: fillerOf(volume), image, labels: { 'roost.platform': fillerKind }, env: {} },
      ...{ cpus: 1, memoryBytes: 64 * 1024 ** 2, maxProcesses: 16, tmpBytes: 65_536 },
      fullCapabilities: false,
      mounts: [{ type: 'volume', volume, target: `/${archiveRoot}` }],
      ssh: null,
    })
  }

  async function extract(id: string, archive: AsyncIterable<Buffer>): Promise<void> {
    const stream = Readable.from(archive, { objectMode: false })
    const failed = new AbortController()
    let fault: unknown = null
    stream.once('error', (error) => {
      fault = error
      failed.abort()
    })
    try {
      await ask(
        'fill a volume',
        (abortSignal) =>
          // Below the root: links that lead out of the volume are refused otherwise.
          docker.getContainer(id).putArchive(stream, Object.assign({ abortSignal }, { path: '/' })),
        { ...fillSeconds, signal: failed.signal },
      )
    } catch (error) {
      throw fault ?? error
    } finally {
      stream.destroy()
    }
  }

  async function fill(name: string, { labels, image, archive, on }: FillOptions): Promise<void> {
    if (await deps.inspectVolume(name)) throw taken(name)
    const mark = { ...labels, [baseMark]: '1', ...(on !== undefined && { [baseOf]: on }) }
    const { Mountpoint } = await createPlain(name, mark)
    try {
      if (on !== undefined && (await basesFrom(on)).length > 1)
        throw new ContainerError('engine_fault', `volume ${on} is on another base`)
      const { id } = await createFiller(name, image)
      await extract(id, archive)
      await deps.remove(id)
      await deps.flush(Mountpoint)
      await createPlain(filledOf(name), { [partOf]: name })
      // Another process may have taken the fill for an interrupted one.
      if (!isOurs(await deps.inspectVolume(name)))
        throw new ContainerError('base_missing', `volume ${name} was removed`)
      if (on !== undefined) await basesFrom(on)
    } catch (error) {
      await deps.removeVolume(name).catch(() => {})
      throw error
    }
  }

  async function add(name: string, { base, labels }: Parameters<VolumeLayers['add']>[1]) {
    if (await deps.inspectVolume(name)) throw taken(name)
    await removeParts(name)
    const bases = await basesFrom(base)
    const [upper, work] = await Promise.all(
      [upperOf(name), workOf(name)].map((part) => createPlain(part, { [partOf]: name })),
    )
    const driver = upper && work && overlayOptions({ bases, upper, work })
    if (!driver)
      throw new ContainerError('engine_fault', `the engine keeps its volumes at ${bases[0]?.Mountpoint}`)
    const own = { ...labels, [baseOf]: base, 'roost.install': install }
    const body = { Name: name, Labels: own, Driver: 'local', DriverOpts: driver }
    await ask(`create volume ${name}`, (abortSignal) => docker.createVolume(withoutQuery(body, abortSignal)))
    // Its removal looks for layers after it removed the mark, so one of both sees the other.
    await basesFrom(base).catch(async (error: unknown) => {
      await deps.removeVolume(name)
      throw error
    })
  }

  /** The uppermost first. */
  async function basesFrom(base: string): Promise<VolumeInspectInfo[]> {
    const first = await requireFilled(base)
    const below = first.Labels?.[baseOf]
    return below === undefined ? [first] : [first, await requireFilled(below)]
  }

  async function requireFilled(base: string): Promise<VolumeInspectInfo> {
    const [found, filled] = await Promise.all([base, filledOf(base)].map((each) => deps.inspectVolume(each)))
    if (found && filled && isOurs(found) && isOurs(filled)) return found
    throw new ContainerError('base_missing', `volume ${base} is not there, or not filled`)
  }

  async function requireNoLayers(base: string): Promise<void> {
    const layer = (await deps.listVolumes()).find(({ Labels }) => Labels?.[baseOf] === base)
    if (layer) throw new ContainerError('volume_in_use', `volume ${layer.Name} is based on ${base}`)
  }

  async function removeParts(name: string): Promise<void> {
    for (const part of [upperOf(name), workOf(name), filledOf(name)]) {
      const found = await deps.inspectVolume(part)
      if (isOurs(found) && found?.Labels?.[partOf] === name) await deps.removeOne(part)
    }
  }

  async function tryOut(image: string): Promise<boolean> {
    if (!(await deps.mayUse())) return false
    const base = `${probePrefix}${randomBytes(6).toString('hex')}`
    const layer = `${base}-layer`
    try {
      const inside = entryOf({ path: `${archiveRoot}/folder/file`, type: 'file', size: 1 })
      await fill(base, {
        ...{ labels: {}, image },
        archive: pieces([entryOf({ path: `${archiveRoot}/folder/`, type: 'folder' }), inside, block('x')]),
      })
      await add(layer, { base, labels: {} })
      const { id } = await createFiller(layer, image)
      // Mounts the layer and hides a folder of the base, which not every file system and kernel can.
      await extract(
        id,
        pieces([entryOf({ path: `${archiveRoot}/folder`, type: 'file', size: 1 }), block('y')]),
      )
      return true
    } catch (error) {
      if (error instanceof ContainerError && error.fault === 'engine_fault') return false
      throw error
    } finally {
      for (const name of [layer, base]) await deps.removeVolume(name).catch(() => {})
    }
  }

  const layers: VolumeLayers = {
    async canUse(image) {
      const now = clock.now().getTime()
      if (probe && now - probe.at < retryMs) return probe.result
      const current = { result: tryOut(image), at: now }
      probe = current
      try {
        if (await current.result) current.at = Number.POSITIVE_INFINITY
      } catch (error) {
        if (probe === current) probe = null
        throw error
      }
      return current.result
    },
    fill,
    add,
  }

  return {
    layers,
    /** Removes what keeps a volume, except containers of agents. Throws volume_in_use for a base with layers. */
    async release(name: string, labels: Labels): Promise<void> {
      if (labels[baseMark] === undefined && labels[baseOf] === undefined) return
      await requireNoLayers(name)
      const filler = await deps.containerNamed(fillerOf(name))
      if (filler !== null) await deps.remove(filler)
      if (labels[baseMark] === undefined) return
      await removeParts(name)
      await requireNoLayers(name)
    },
    /** After the volume itself, also that of an interrupted creation. */
    removeParts,
  }
}

/** Interrupted probes are found by it. */
const probePrefix = 'workspace-base-probe-'

const fillerOf = (volume: string) => `${volume}-filler`

const taken = (name: string) => new ContainerError('name_taken', `there is a volume ${name} already`)

function entryOf(entry: Pick<TarEntry, 'path' | 'type'> & { size?: number }): Buffer {
  return writeHeader({
    link: '',
    size: 0,
    mode: entry.type === 'folder' ? 0o755 : 0o644,
    modified: 0,
    ...entry,
  })
}

const block = (text: string) => Buffer.concat([Buffer.from(text), Buffer.alloc(paddingOf(text.length))])

async function* pieces(all: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield Buffer.concat([...all, archiveEnd])
}
