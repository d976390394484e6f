/**
 * The operations that Roost needs from a container engine. Adapters: `docker:` (Engine API over a socket),
 * `sandbox:` (without an engine), `fake:` (in memory, for tests). All pass `suite.ts`.
 *
 * An adapter changes only containers and volumes with its own `roost.install` label, so installations can
 * share an engine.
 */
export interface Containers {
  readonly kind: 'docker' | 'sandbox' | 'kubernetes' | 'fake'
  /** The isolation of this engine, for startup notices and an agent's details. */
  readonly isolation: Isolation
  /** False when `ssh` of a spec has no effect; agents then need no SSH port. */
  readonly publishesSsh: boolean

  /** OCI runtimes of the engine, as of the last answered `ping`; none before the first one. */
  readonly runtimes: OciRuntimes

  /** Returns the engine's data; throws `ContainerError` engine_down without an answer. */
  ping(signal?: AbortSignal): Promise<EngineInfo>

  /**
   * True when `image` needs no build here. An engine that pulls images itself answers from the configuration; a
   * missing image is then a `start_pending` with the engine's sentence.
   */
  hasImage(image: string): Promise<boolean>

  /**
   * Creates the agents' network, which all agents of this installation share. Idempotent. `hostAddress` is
   * the address to bind for listeners of the platform. `platformUrlHost` is the host name under which agents
   * reach them.
   */
  ensureNetwork(): Promise<AgentsNetwork>
  /** How well this engine can close containers that have `isClosed`. */
  readonly closing: Closing
  /**
   * Creates the network that reaches only the platform. Throws `engine_fault` when the engine cannot provide
   * it.
   */
  ensureClosedNetwork(): Promise<AgentsNetwork>
  /** Whether agents are kept from the networks around this machine, as of the last `filterNetwork`. */
  readonly networkFilter: NetworkFilter
  /**
   * Keeps agents from private networks, metadata addresses and this machine, running ones too. Replaces the
   * previous rules. Called repeatedly, because a firewall may drop them. Without networks it removes all rules.
   * Never throws; `networkFilter` has the reason.
   */
  filterNetwork(rules: FilterRules): Promise<void>

  /**
   * Creates without starting. Throws `ContainerError`: name_taken, port_taken, image_missing, runtime_missing,
   * engine_down, engine_fault.
   */
  create(spec: ContainerSpec): Promise<{ id: string }>
  /**
   * Starts a container; no-op when running. Throws no_such_container, port_taken and others. The engine then
   * restarts it after every unexpected end, at least four times in ten minutes. Only the sandbox stops
   * trying; elsewhere the caller ends a restart loop with a stop.
   *
   * An engine that schedules throws start_pending when the container does not run within a minute, and keeps
   * trying; `started` follows. It throws node_lost while the container may still run on an unreachable node.
   *
   * With `takesOver`, a lost container that `canMove` is started elsewhere. The new run gets a higher
   * `ROOST_START_NUMBER`, and time for the old one to notice it and end (decision 97).
   */
  start(id: string, options?: { takesOver?: boolean }): Promise<void>
  /**
   * Sends SIGTERM, then kills after `graceSeconds`. No-op when stopped. A lost container stays lost, and ends when
   * its node returns.
   */
  stop(id: string, graceSeconds: number): Promise<void>
  /**
   * Kills and removes the container; unknown ids are a no-op. Volumes stay. Throws node_lost for a lost one, which ends
   * when its node returns.
   */
  remove(id: string): Promise<void>

  /** Null for an unknown container. */
  inspect(id: string): Promise<ContainerState | null>
  /** Every container of this installation, running or not. */
  list(): Promise<ContainerState[]>
  /**
   * Asks the engine not to evict these containers, for example while it drains their node. All others lose the
   * protection; unknown ids are ignored. Cheap without a change. Missing on engines that never evict.
   */
  protect?(ids: ReadonlySet<string>): Promise<void>
  /** The last `tail` lines of both output streams in order, at least of the last run, even when stopped. */
  logs(id: string, tail: number): Promise<string>
  /**
   * Returns one sample; null when the container is not running or the engine measures nothing. Cheap enough for
   * 50 agents in a background loop.
   */
  sample(id: string): Promise<ContainerSample | null>
  /**
   * Disk usage of this installation's containers and volumes. Reads every file, so it may take minutes; the
   * caller decides how often.
   */
  diskFigures(signal?: AbortSignal): Promise<DiskFigures>

  /**
   * Yields state changes until `signal` aborts. Yields `resync` first and after each interruption of the
   * engine's event stream; the listener then lists all containers again. Never throws for an unreachable
   * engine, but retries with backoff.
   */
  events(signal: AbortSignal): AsyncIterable<ContainerEvent>

  /** Creates the volume if missing. */
  createVolume(name: string, labels: Record<string, string>): Promise<void>
  /** Unknown volumes are a no-op. Throws volume_in_use while any container, running or not, mounts it. */
  removeVolume(name: string): Promise<void>
  /** Names of this installation's volumes. */
  listVolumes(): Promise<string[]>
  /** Missing on engines that always copy. */
  readonly layers?: VolumeLayers

  close(): Promise<void>
}

/**
 * Volumes that begin with the content of a base volume without copying it. Only what a layer changes takes space.
 * `removeVolume` throws volume_in_use for a base with layers.
 */
export type VolumeLayers = {
  /** Tries at the engine whether it can, once. Creates containers of this image, and never starts them. */
  canUse(image: string): Promise<boolean>
  /**
   * Creates a base with the content of a GNU tar archive, all of whose names begin with `archiveRoot`. Nothing can be
   * layered on it before this resolves. With `on`, it has what differs from that base, which has no other below it:
   * whiteouts hide entries. Throws name_taken for an existing volume, and base_missing.
   */
  fill(name: string, options: FillOptions): Promise<void>
  /** Creates a layer. Throws base_missing unless the base is filled, and name_taken for an existing volume. */
  add(name: string, options: { base: string; labels: Record<string, string> }): Promise<void>
}

export type FillOptions = {
  labels: Record<string, string>
  image: string
  archive: AsyncIterable<Buffer>
  on?: string
}

/** The folder of an archive that becomes the volume. */
export const archiveRoot = 'volume'

export type EngineInfo = {
  /** Stays the same for as long as the engine keeps its containers and volumes; unique among engines. */
  id: string
  name: string
  version: string
  cpus: number
  memoryBytes: number
}

/** Without OCI runtimes, as in the sandbox, the list is empty and the default null. */
export type OciRuntimes = { listed: readonly string[]; default: string | null }

export type Closing = {
  can: boolean
  /** True when every container is closed, whatever its spec says. */
  always: boolean
  /** Remaining gaps, as sentences for people. */
  notes: readonly string[]
}

export type FilterRules = {
  /** Ports of the platform's processes on the agents' networks. */
  platformPorts: readonly number[]
  /** Processes of the platform elsewhere: IP addresses, or names, which may have several. */
  platformHosts: readonly { host: string; port: number }[]
  opened: readonly OpenedNetwork[]
}
/** One address if `prefix` has all its bits; `port` null for all ports. */
export type OpenedNetwork = { address: string; prefix: number; port: number | null }
/** `problem`: why there is none, and what to do, as sentences for people; null while it is active. */
export type NetworkFilter = { isActive: boolean; problem: string | null }

/** A TCP address may exist only once the first container runs (Podman), so binding is retried. */
export type AgentsNetwork = {
  hostAddress: HostAddress
  platformUrlHost: string
  /** Addresses under which containers made before an update reach the platform. */
  formerAddresses?: readonly string[]
}
/**
 * A TCP address to bind in addition to loopback, all addresses of this machine, a unix socket path (sandbox), or only
 * loopback.
 */
export type HostAddress =
  | { type: 'tcp'; address: string }
  | { type: 'any' }
  | { type: 'unix'; path: string }
  | { type: 'loopback' }

export type Isolation = {
  /** A word that an operator can search for: `container` or `sandbox`. */
  level: 'container' | 'sandbox' | 'none'
  /** Sentences about what is weaker than a container; empty for a container engine. */
  weaker: string[]
}

export type ContainerSpec = {
  name: string
  image: string
  /** The adapter adds `roost.install`. */
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
  /** OCI runtime; absent for the engine's default. */
  runtime?: string
  /** Allows network access only to the platform; `ssh` has no effect then. */
  isClosed?: boolean
  /**
   * Publishes port 22 of the container at `bind:port`; null for none. Bound to loopback, other agents cannot
   * reach it. Bound to another address, every agent can reach it through the host.
   */
  ssh: { bind: string; port: number } | null
}

export type Mount =
  | { type: 'volume'; volume: string; target: string; readOnly?: boolean }
  /**
   * An empty read-only folder, created at each start, as the parent of other mounts. Keeps files out of the
   * volume's folder and out of its mount points.
   */
  | { type: 'empty'; target: string }

export type ContainerState = {
  id: string
  name: string
  labels: Record<string, string>
  /**
   * `pending`: started, but the engine cannot run it yet. `lost`: its node is unreachable, so it may still run
   * there; no second one is started.
   */
  status: 'created' | 'pending' | 'running' | 'stopped' | 'lost'
  /** Set exactly while `pending` or `lost`. */
  waiting: ContainerWaiting | null
  /** Null while running or never started. */
  exitCode: number | null
  oomKilled: boolean
  startedAt: string | null
  /** Mounted volume names, to detect whether a recreate is needed. */
  volumes: string[]
}

/**
 * `reason` is a sentence for people, such as the scheduler's. `since` is ISO 8601. `canMove`: lost, and another
 * node can mount its volumes.
 */
export type ContainerWaiting = { reason: string; since: string; canMove: boolean }

export type ContainerSample = {
  /** Percent of one CPU: 200 means two busy cores. Null in the first sample of a container. */
  cpuPercent: number | null
  memoryUsedBytes: number
  memoryLimitBytes: number | null
  networkRxBytes: number | null
  networkTxBytes: number | null
  sampledAt: string
}

/** Bytes. Both maps omit what the engine does not report. */
export type DiskFigures = {
  /** Writable layers, by container id. */
  containers: ReadonlyMap<string, number>
  /** By volume name. */
  volumes: ReadonlyMap<string, number>
}

export type ContainerEvent =
  | { type: 'resync' }
  | { type: 'started'; id: string; name: string; at: string }
  /** `isEvicted`: the engine ended the container, or was asked to, and does not restart it. Default: false. */
  | {
      type: 'exited'
      id: string
      name: string
      exitCode: number | null
      oomKilled: boolean
      at: string
      isEvicted?: boolean
    }
  | { type: 'removed'; id: string; name: string; at: string }
  /** `pending` or `lost`; `at` is the `since` of the state. Repeated when the reason changes. */
  | {
      type: 'waiting'
      id: string
      name: string
      status: 'pending' | 'lost'
      reason: string
      canMove: boolean
      at: string
    }

/** `fault` is for callers; the message is for the log, and for people if `isForPeople`. */
export class ContainerError extends Error {
  readonly fault:
    | 'engine_down'
    | 'engine_fault'
    | 'no_such_container'
    | 'name_taken'
    | 'port_taken'
    | 'image_missing'
    | 'runtime_missing'
    | 'volume_in_use'
    | 'base_missing'
    | 'quota_exceeded'
    | 'start_pending'
    | 'node_lost'
  constructor(fault: ContainerError['fault'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'ContainerError'
    this.fault = fault
  }
}

/** Throws runtime_missing for a runtime that the engine does not list, so that no weaker one takes its place. */
export function requireRuntime(runtime: string | undefined, { listed }: OciRuntimes): void {
  if (runtime === undefined || listed.includes(runtime)) return
  const known = listed.length === 0 ? 'has no OCI runtimes' : `lists ${listed.join(', ')}`
  throw new ContainerError('runtime_missing', `there is no OCI runtime ${runtime}: the engine ${known}`)
}
