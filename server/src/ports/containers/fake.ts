import { randomBytes } from 'node:crypto'
import { type Clock, systemClock } from '../../kit/clock.ts'
import { createCpuRate } from './cpu-rate.ts'
import {
  ContainerError,
  type ContainerEvent,
  type ContainerSpec,
  type ContainerState,
  type Containers,
  type FillOptions,
  type OciRuntimes,
  requireRuntime,
} from './port.ts'

/** The simulated behaviour of a started container. */
export type FakeProgram = {
  /** Output of each start. */
  output: string[]
  /** Exits right after the start with this code; absent for a container that keeps running. */
  exits?: { code: number; oomKilled: boolean }
  /** Ignores SIGTERM, so that only a kill ends it (137). */
  ignoresStop?: boolean
  /** Sizes after the start: of the writable layer and of the first volume. */
  disk?: { layerBytes: number; volumeBytes: number }
}

/** A simulated engine that several installations can share. */
export type FakeEngine = {
  /** Creates the adapter of an installation on this engine. */
  containers(install: string): Containers
  /** Crashes a container with the given code; the restart policy starts it again. */
  crash(id: string, exitCode?: number, oomKilled?: boolean): void
  /** Breaks the event stream of all listeners; they get a resync. */
  dropEvents(): void
  /** While true, every call throws engine_down and events are held back; containers keep running. */
  refuse(isRefusing: boolean): void
  /** With a reason, started containers stay pending until it is null again. */
  delayStarts(reason: string | null): void
  /** Ends a running container as a drain of its node does. False for a protected one, which continues. */
  evict(id: string): boolean
  /** The node of a running container becomes unreachable; null: it is back, with the container. */
  lose(id: string, reason: string | null, options?: { canMove: boolean }): void
  /** Holds the next start until the returned function is called. */
  hangNextStart(): () => void
  /** Makes the next call of this name fail once, for creates and starts that fail halfway. */
  failNext(call: keyof Containers, fault: ContainerError['fault']): void
  /** Sets CPU seconds since the start and current memory. */
  use(id: string, usage: { cpuSeconds?: number; memoryBytes?: number; layerBytes?: number }): void
  /** Sets the size of a volume. */
  fill(volume: string, bytes: number): void
  /** The archive of a base; null for other volumes. */
  archiveOf(volume: string): Buffer | null
  /** The base that a volume begins with; null without one. */
  baseOf(volume: string): string | null
}

export type FakeOptions = {
  clock?: Clock
  images?: string[]
  runtimes?: OciRuntimes
  /** Whether volumes can be layered. Default: true. */
  canLayer?: boolean
  /** Identity of the engine. Default: the same in every process. */
  engineId?: string
  program?(spec: ContainerSpec): FakeProgram
}

type FakeContainer = {
  install: string
  spec: ContainerSpec
  state: ContainerState
  log: string[]
  program: FakeProgram
  cpuSeconds: number
  memoryBytes: number
  layerBytes: number
  /** True while the restart policy waits. */
  isRestarting: boolean
  /** Stopped while lost. */
  stopsOnReturn: boolean
  isProtected: boolean
}

type Listener = { install: string; push(event: ContainerEvent): void; isBehind(): boolean }

/** With more unread events than this, the restart policy waits. */
const maxUnreadEvents = 4

/**
 * An in-memory engine with the states and faults of real ones. Like Docker it restarts crashed containers
 * without limit, in the next iteration of the event loop.
 */
export function createFakeEngine(options: FakeOptions = {}): FakeEngine {
  const clock = options.clock ?? systemClock
  const runtimes = options.runtimes ?? { listed: ['kata', 'runc', 'runsc'], default: 'runc' }
  const engineId = options.engineId ?? 'fake'
  const images = options.images ?? ['roost-agent:fake']
  const containers = new Map<string, FakeContainer>()
  const volumes = new Map<string, string>()
  const volumeBytes = new Map<string, number>()
  const archives = new Map<string, Buffer>()
  const bases = new Map<string, string>()
  const listeners = new Set<Listener>()
  const failures = new Map<keyof Containers, ContainerError['fault']>()
  let isRefusing = false
  let delay: string | null = null
  let hanging: Promise<void> | null = null
  let returned = Promise.withResolvers<void>()

  return {
    containers: adapterOf,
    crash(id, exitCode = 137, oomKilled = false) {
      const container = containers.get(id)
      if (container?.state.status === 'running') end(container, exitCode, oomKilled, true)
    },
    dropEvents() {
      for (const { push } of listeners) push({ type: 'resync' })
    },
    refuse(refusing) {
      isRefusing = refusing
      if (refusing) return
      returned.resolve()
      returned = Promise.withResolvers()
      for (const { push } of listeners) push({ type: 'resync' })
    },
    failNext(call, fault) {
      failures.set(call, fault)
    },
    delayStarts(reason) {
      delay = reason
      for (const container of containers.values()) {
        if (container.state.status === 'pending' && reason === null) begin(container)
      }
    },
    evict(id) {
      const container = containers.get(id)
      if (container?.state.status !== 'running') return true
      if (!container.isProtected) end(container, 143, false, false, { isEvicted: true })
      return !container.isProtected
    },
    lose(id, reason, { canMove } = { canMove: false }) {
      const container = containers.get(id)
      if (!container) return
      if (reason !== null) wait(container, 'lost', reason, canMove)
      else if (container.stopsOnReturn) {
        container.state = { ...container.state, waiting: null }
        end(container, 137, false, false)
      } else if (container.state.status === 'lost') {
        container.state = { ...container.state, status: 'running', waiting: null }
        notify(container, { type: 'started', id, name: container.state.name, at: now() })
      }
    },
    hangNextStart() {
      const { promise, resolve } = Promise.withResolvers<void>()
      hanging = promise
      return resolve
    },
    fill: (volume, bytes) => void volumeBytes.set(volume, bytes),
    archiveOf: (volume) => archives.get(volume) ?? null,
    baseOf: (volume) => bases.get(volume) ?? null,
    use(id, { cpuSeconds, memoryBytes, layerBytes }) {
      const container = containers.get(id)
      if (!container) return
      container.cpuSeconds = cpuSeconds ?? container.cpuSeconds
      container.memoryBytes = memoryBytes ?? container.memoryBytes
      container.layerBytes = layerBytes ?? container.layerBytes
    },
  }

  function adapterOf(install: string): Containers {
    const rate = createCpuRate()
    const own = (id: string): FakeContainer | null => {
      const container = containers.get(id)
      return container?.install === install ? container : null
    }
    const need = (id: string): FakeContainer => {
      const container = own(id)
      if (!container) throw new ContainerError('no_such_container', `no container ${id}`)
      return container
    }

    const all = () => [...containers.values()].filter((container) => container.install === install)
    const hostAddress = { type: 'loopback' as const }
    const volumeNames = () => [...volumes].flatMap(([name, owner]) => (owner === install ? [name] : []))

    return {
      kind: 'fake',
      publishesSsh: true,
      isolation: { level: 'none', weaker: ['Nothing runs: containers are simulated.'] },
      runtimes,

      ping: call('ping', () => ({
        id: engineId,
        name: 'fake',
        version: '1',
        cpus: 4,
        memoryBytes: 8 * 2 ** 30,
      })),
      hasImage: call('hasImage', (image: string) => images.includes(image)),
      closing: { can: true, always: false, notes: [] },
      networkFilter: { isActive: true, problem: null },
      filterNetwork: async () => {},
      ensureClosedNetwork: call('ensureClosedNetwork', () => ({ hostAddress, platformUrlHost: '127.0.0.2' })),
      ensureNetwork: call('ensureNetwork', () => ({ hostAddress, platformUrlHost: '127.0.0.1' })),

      create: call('create', (spec: ContainerSpec) => {
        if (!images.includes(spec.image)) throw new ContainerError('image_missing', `no image ${spec.image}`)
        requireRuntime(spec.runtime, runtimes)
        refuseTakenName(spec.name)
        refuseForeignVolumes(install, spec)
        const id = randomBytes(32).toString('hex')
        containers.set(id, {
          install,
          spec,
          state: {
            id,
            name: spec.name,
            labels: { ...spec.labels, 'roost.install': install },
            status: 'created',
            waiting: null,
            exitCode: null,
            oomKilled: false,
            startedAt: null,
            volumes: spec.mounts.flatMap((mount) => (mount.type === 'volume' ? [mount.volume] : [])),
          },
          log: [],
          program: options.program?.(spec) ?? { output: [] },
          cpuSeconds: 0,
          memoryBytes: 20 * 2 ** 20,
          layerBytes: 0,
          isRestarting: false,
          stopsOnReturn: false,
          isProtected: false,
        })
        return { id }
      }),

      start: call('start', async (id: string, { takesOver = false } = {}) => {
        const container = need(id)
        const held = hanging
        hanging = null
        await held
        const { status, waiting } = container.state
        if (status === 'running') return
        if (status === 'lost' && !(takesOver && waiting?.canMove))
          throw new ContainerError('node_lost', waiting?.reason ?? '')
        refuseTakenPort(container)
        if (delay === null) return begin(container)
        wait(container, 'pending', delay)
        throw new ContainerError('start_pending', delay)
      }),

      stop: call('stop', (id: string, graceSeconds: number) => {
        const container = need(id)
        container.isRestarting = false
        container.stopsOnReturn = container.state.status === 'lost'
        if (container.state.status === 'pending') {
          container.state = { ...container.state, status: 'stopped', waiting: null }
        }
        if (container.state.status !== 'running') return
        const isKilled = container.program.ignoresStop === true || graceSeconds === 0
        // A real engine returns after the end, so later calls must be later even on a fixed clock.
        const at = new Date(clock.now().getTime() - 1).toISOString()
        end(container, isKilled ? 137 : 0, false, false, { at })
      }),

      remove: call('remove', (id: string) => {
        const container = own(id)
        if (!container) return
        if (container.state.status === 'lost') {
          container.stopsOnReturn = true
          throw new ContainerError('node_lost', container.state.waiting?.reason ?? '')
        }
        if (container.state.status === 'running') end(container, 137, false, false)
        containers.delete(id)
        rate.forget(id)
        notify(container, { type: 'removed', id, name: container.state.name, at: now() })
      }),

      inspect: call('inspect', (id: string) => own(id)?.state ?? null),
      list: call('list', () => all().map(({ state }) => state)),
      protect: call('protect', (ids: ReadonlySet<string>) => {
        for (const container of all()) container.isProtected = ids.has(container.state.id)
      }),
      logs: call('logs', (id: string, tail: number) =>
        need(id)
          .log.slice(-tail)
          .map((line) => `${line}\n`)
          .join(''),
      ),

      sample: call('sample', (id: string) => {
        const container = own(id)
        if (container?.state.status !== 'running') {
          rate.forget(id)
          return null
        }
        return {
          cpuPercent: rate.percent(id, container.cpuSeconds * 1e9, clock.now().getTime()),
          memoryUsedBytes: container.memoryBytes,
          memoryLimitBytes: container.spec.memoryBytes,
          networkRxBytes: 0,
          networkTxBytes: 0,
          sampledAt: now(),
        }
      }),

      diskFigures: call('diskFigures', () => ({
        containers: new Map(all().map(({ state, layerBytes }) => [state.id, layerBytes])),
        volumes: new Map(volumeNames().map((name) => [name, volumeBytes.get(name) ?? 0])),
      })),

      events: (signal) => listen(install, signal),

      createVolume: call('createVolume', (name: string) => {
        refuseForeignVolume(install, name)
        volumes.set(name, install)
      }),
      removeVolume: call('removeVolume', (name: string) => {
        if (volumes.get(name) !== install) return
        const holder = [...containers.values()].find(({ state }) => state.volumes.includes(name))
        if (holder) throw new ContainerError('volume_in_use', `${holder.state.name} mounts volume ${name}`)
        if ([...bases.values()].includes(name))
          throw new ContainerError('volume_in_use', `a volume is based on ${name}`)
        archives.delete(name)
        bases.delete(name)
        volumes.delete(name)
        volumeBytes.delete(name)
      }),
      listVolumes: call('listVolumes', volumeNames),
      layers: {
        canUse: call('layers', () => options.canLayer ?? true),
        fill: call('layers', async (name: string, { image, archive, on }: FillOptions) => {
          if (volumes.has(name)) throw new ContainerError('name_taken', `there is a volume ${name} already`)
          if (!images.includes(image)) throw new ContainerError('image_missing', `no image ${image}`)
          volumes.set(name, install)
          try {
            const content = Buffer.concat(await Array.fromAsync(archive))
            if (!volumes.has(name)) throw new ContainerError('base_missing', `volume ${name} was removed`)
            if (on !== undefined) requireBase(install, on)
            archives.set(name, content)
            if (on !== undefined) bases.set(name, on)
          } catch (error) {
            volumes.delete(name)
            throw error
          }
        }),
        add: call('layers', (name: string, { base }: { base: string }) => {
          if (volumes.has(name)) throw new ContainerError('name_taken', `there is a volume ${name} already`)
          requireBase(install, base)
          volumes.set(name, install)
          bases.set(name, base)
        }),
      },

      async close() {},
    }
  }

  /** Simulates a remote call: asynchronous, refused while the engine is down, failing on request. */
  function call<A extends unknown[], R>(
    name: keyof Containers,
    act: (...args: A) => R | Promise<R>,
  ): (...args: A) => Promise<R> {
    return async (...args) => {
      await Promise.resolve()
      if (isRefusing) throw new ContainerError('engine_down', `${name}: the engine is down`)
      const fault = failures.get(name)
      failures.delete(name)
      if (fault) throw new ContainerError(fault, `${name}: failed on request`)
      return act(...args)
    }
  }

  function begin(container: FakeContainer): void {
    container.isRestarting = false
    container.cpuSeconds = 0
    container.log.push(...container.program.output)
    container.state = {
      ...container.state,
      status: 'running',
      waiting: null,
      exitCode: null,
      oomKilled: false,
      startedAt: now(),
    }
    notify(container, { type: 'started', id: container.state.id, name: container.state.name, at: now() })
    const { disk, exits } = container.program
    const [volume] = container.state.volumes
    if (disk) container.layerBytes = disk.layerBytes
    if (disk && volume) volumeBytes.set(volume, disk.volumeBytes)
    if (!exits) return
    setImmediate(() => {
      if (container.state.status === 'running') end(container, exits.code, exits.oomKilled, true)
    })
  }

  function wait(container: FakeContainer, status: 'pending' | 'lost', reason: string, canMove = false): void {
    const { id, name } = container.state
    const at = now()
    container.state = { ...container.state, status, waiting: { reason, since: at, canMove } }
    notify(container, { type: 'waiting', id, name, status, reason, canMove, at })
  }

  function end(
    container: FakeContainer,
    exitCode: number,
    oomKilled: boolean,
    willRestart: boolean,
    { at = now(), isEvicted = false } = {},
  ): void {
    container.state = { ...container.state, status: 'stopped', exitCode, oomKilled }
    const { id, name } = container.state
    notify(container, { type: 'exited', id, name, exitCode, oomKilled, at, isEvicted })
    container.isRestarting = willRestart
    if (!willRestart) return
    scheduleRestart(container)
  }

  /** Like an engine's growing delays: a restart waits until listeners have read its end. */
  function scheduleRestart(container: FakeContainer): void {
    setImmediate(() => {
      if (!container.isRestarting || !containers.has(container.state.id)) return
      const hasUnread = [...listeners].some(
        ({ install, isBehind }) => install === container.install && isBehind(),
      )
      if (hasUnread) scheduleRestart(container)
      else begin(container)
    }).unref()
  }

  function notify(container: FakeContainer, event: ContainerEvent): void {
    for (const listener of listeners) {
      if (listener.install === container.install) listener.push(event)
    }
  }

  async function* listen(install: string, signal: AbortSignal): AsyncGenerator<ContainerEvent> {
    const queue: ContainerEvent[] = [{ type: 'resync' }]
    let wake = Promise.withResolvers<void>()
    const listener: Listener = {
      install,
      push(event) {
        // While the engine is down its stream is too; the resync covers missed events.
        if (isRefusing) return
        queue.push(event)
        wake.resolve()
      },
      isBehind: () => queue.length > maxUnreadEvents,
    }
    const stop = () => wake.resolve()
    signal.addEventListener('abort', stop, { once: true })
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    try {
      while (isRefusing && !signal.aborted) await Promise.race([returned.promise, aborted])
      listeners.add(listener)
      while (!signal.aborted) {
        const event = queue.shift()
        if (event) yield event
        else {
          wake = Promise.withResolvers()
          await Promise.race([wake.promise, aborted])
        }
      }
    } finally {
      listeners.delete(listener)
      signal.removeEventListener('abort', stop)
    }
  }

  function refuseTakenName(name: string): void {
    for (const { state } of containers.values()) {
      if (state.name === name) throw new ContainerError('name_taken', `the name ${name} is taken`)
    }
  }

  function refuseTakenPort(container: FakeContainer): void {
    const { ssh } = container.spec
    const holder = [...containers.values()].find(
      (other) =>
        other !== container && other.state.status === 'running' && other.spec.ssh?.port === ssh?.port,
    )
    if (ssh && holder)
      throw new ContainerError('port_taken', `port ${ssh.port} is taken by ${holder.state.name}`)
  }

  function requireBase(install: string, base: string): void {
    const below = bases.get(base)
    if (volumes.get(base) !== install || !archives.has(base) || (below !== undefined && !archives.has(below)))
      throw new ContainerError('base_missing', `volume ${base} is not there, or not filled`)
  }

  function refuseForeignVolumes(install: string, spec: ContainerSpec): void {
    for (const mount of spec.mounts) {
      if (mount.type === 'volume') refuseForeignVolume(install, mount.volume)
    }
  }

  function refuseForeignVolume(install: string, name: string): void {
    const owner = volumes.get(name)
    if (owner !== undefined && owner !== install) {
      throw new ContainerError('name_taken', `volume ${name} belongs to another installation`)
    }
  }

  function now(): string {
    return clock.now().toISOString()
  }
}
