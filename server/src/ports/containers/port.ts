/**
 * What Roost asks of a container engine. Adapters: `docker:` (Engine API over a socket), `sandbox:`
 * (no engine at all), `fake:` (in memory, for tests). All pass `suite.ts`.
 *
 * An adapter touches only containers and volumes that carry its own `roost.install` label, so that two
 * installations share one engine without seeing each other.
 */
export interface Containers {
  readonly kind: 'docker' | 'sandbox' | 'fake'
  /** What this engine keeps apart, in plain words for start-up notices and an agent's details. */
  readonly isolation: Isolation
  /** Whether `ssh` of a spec has an effect. Where it has none, agents need no SSH port claimed for them. */
  readonly publishesSsh: boolean

  /** Answers when the engine does; throws `ContainerError` engine_down otherwise. */
  ping(signal?: AbortSignal): Promise<EngineInfo>

  /** True when `image` can be started now, without a build or pull. */
  hasImage(image: string): Promise<boolean>

  /**
   * Makes what every agent of this installation shares (the agents' network). Safe to repeat.
   * `hostAddress` is where a listener of the platform must bind to be reached by agents, and
   * `platformUrlHost` the host part under which an agent reaches it.
   */
  ensureNetwork(): Promise<AgentsNetwork>
  /** What this engine can take away from containers that are made with `isClosed`. */
  readonly closing: Closing
  /**
   * The same for the network from which nothing but the platform is reached; made when it is first needed. Throws
   * `engine_fault` where it cannot be had.
   */
  ensureClosedNetwork(): Promise<AgentsNetwork>

  /** Creates without starting. Throws `ContainerError`: name_taken, port_taken, image_missing, engine_down, engine_fault. */
  create(spec: ContainerSpec): Promise<{ id: string }>
  /**
   * Starting a running container is a no-op. Throws no_such_container, port_taken, …
   * From here until a stop, what ends by itself is brought back by the engine after a short wait, at least
   * four times in ten minutes. Only the sandbox gives up then; elsewhere the caller ends a loop with a stop.
   */
  start(id: string): Promise<void>
  /** Polite signal, then kill after `graceSeconds`. Stopping a stopped container is a no-op. */
  stop(id: string, graceSeconds: number): Promise<void>
  /** Removes container (killing it first); unknown ids are a no-op. Volumes stay. */
  remove(id: string): Promise<void>
  rename(id: string, name: string): Promise<void>

  /** Null when there is no such container. */
  inspect(id: string): Promise<ContainerState | null>
  /** Every container of this installation, running or not. */
  list(): Promise<ContainerState[]>
  /** The last `tail` lines of both output streams in order, also of stopped containers. */
  logs(id: string, tail: number): Promise<string>
  /** One sample; null when the container does not run. Cheap: may be called for 50 agents in a background pass. */
  sample(id: string): Promise<ContainerSample | null>

  /**
   * State changes as they happen, until `signal` aborts. Yields `resync` first, and again after each
   * interruption of the engine's event stream: whoever listens then lists everything anew. Never throws
   * for an engine that is away: it waits and retries with backoff.
   */
  events(signal: AbortSignal): AsyncIterable<ContainerEvent>

  /** Makes the volume when absent. */
  createVolume(name: string, labels: Record<string, string>): Promise<void>
  /** Unknown volumes are a no-op. Throws volume_in_use while a container, running or not, mounts it. */
  removeVolume(name: string): Promise<void>
  /** Names of this installation's volumes. */
  listVolumes(): Promise<string[]>

  close(): Promise<void>
}

export type EngineInfo = { name: string; version: string; cpus: number; memoryBytes: number }

export type Closing = {
  can: boolean
  /** Every container is closed, whatever its spec says. */
  always: boolean
  /** What stays open, in sentences for people. */
  notes: readonly string[]
}

/** A TCP address may appear only with the first running container (Podman): who binds it tries again. */
export type AgentsNetwork = { hostAddress: HostAddress; platformUrlHost: string }
/** A TCP address to bind beside loopback, a unix socket path (sandbox), or nothing more than loopback. */
export type HostAddress =
  | { type: 'tcp'; address: string }
  | { type: 'unix'; path: string }
  | { type: 'loopback' }

export type Isolation = {
  /** One of the words an operator can search for: `container` or `sandbox`. */
  level: 'container' | 'sandbox' | 'none'
  /** Sentences naming what is weaker than a container; empty for a container engine. */
  weaker: string[]
}

export type ContainerSpec = {
  name: string
  image: string
  /** `roost.install` is added by the adapter. */
  labels: Record<string, string>
  env: Record<string, string>
  cpus: number
  memoryBytes: number
  maxProcesses: number
  /** Size of the tmpfs at /tmp (noexec, nosuid). */
  tmpBytes: number
  /** Adds DAC_OVERRIDE, FOWNER, KILL and allows new privileges (sudo). */
  fullCapabilities: boolean
  mounts: Mount[]
  /** No way out but to the platform; `ssh` has no effect then. */
  isClosed?: boolean
  /**
   * Port 22 of the container, published at `bind:port`; null for none. Bound to loopback no other agent
   * reaches it; bound to any other address of the host, every agent does, over the host.
   */
  ssh: { bind: string; port: number } | null
}

export type Mount =
  | { type: 'volume'; volume: string; target: string; readOnly?: boolean }
  | { type: 'bind'; source: string; target: string; readOnly: boolean }
  /**
   * An empty folder of the container's own, anew at each start, in which its users make nothing: other mounts
   * stand in it, so that nothing of theirs is left behind in a volume and nothing in a volume is in their way.
   */
  | { type: 'empty'; target: string }

export type ContainerState = {
  id: string
  name: string
  labels: Record<string, string>
  status: 'created' | 'running' | 'stopped'
  /** Null while running or never started. */
  exitCode: number | null
  oomKilled: boolean
  startedAt: string | null
  /** Mounted volume names, to tell whether a recreate is due. */
  volumes: string[]
}

export type ContainerSample = {
  /** Percent of one CPU: 200 is two cores busy. Null in the first sample of a container. */
  cpuPercent: number | null
  memoryUsedBytes: number
  memoryLimitBytes: number | null
  networkRxBytes: number | null
  networkTxBytes: number | null
  sampledAt: string
}

export type ContainerEvent =
  | { type: 'resync' }
  | { type: 'started'; id: string; name: string; at: string }
  | { type: 'exited'; id: string; name: string; exitCode: number | null; oomKilled: boolean; at: string }
  | { type: 'removed'; id: string; name: string; at: string }

/** `fault` says which decided answer a caller gives; the message is for the log. */
export class ContainerError extends Error {
  readonly fault:
    | 'engine_down'
    | 'engine_fault'
    | 'no_such_container'
    | 'name_taken'
    | 'port_taken'
    | 'image_missing'
    | 'volume_in_use'
  constructor(fault: ContainerError['fault'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ContainerError'
    this.fault = fault
  }
}
