import { access } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { isAbsolute, join, normalize } from 'node:path'
import type { Clock } from '../../../kit/clock.ts'
import { type CgroupMounts, findCgroupMounts } from '../cgroups.ts'
import { createCpuRate } from '../cpu-rate.ts'
import {
  type AgentsNetwork,
  ContainerError,
  type ContainerSpec,
  type Containers,
  type OciRuntimes,
  requireRuntime,
} from '../port.ts'
import { threadsOf } from '../proc.ts'
import { createControl } from './control.ts'
import { volumeSizes } from './disk.ts'
import { followSandboxEvents } from './events.ts'
import { foldersOf, type Launch } from './folders.ts'
import { appendToJournal } from './journal.ts'
import {
  bwrapArguments,
  gatewaySocketName,
  type LaunchFacts,
  launchScript,
  type SandboxImage,
  safeName,
  volumeData,
} from './launch.ts'
import { mayLimit, planCgroups, usageFolders } from './limits.ts'
import { tailLog } from './log.ts'
import { probeBubblewrap } from './probe.ts'
import { defaultRestartPolicy, type RestartPolicy } from './restart.ts'
import { readUsage } from './sample.ts'
import { createStore } from './store.ts'

export type SandboxOptions = {
  install: string
  /** Folder for containers, volumes, logs and the platform's socket; created if missing. */
  stateDir: string
  /** Resolves an image name on this host; null when unknown. Called at each start. */
  resolveImage(image: string): SandboxImage | null | Promise<SandboxImage | null>
  bwrapPath?: string
  restart?: RestartPolicy
  /** Interval of checks for killed supervisors while events are followed. */
  sweepSeconds?: number
  clock?: Clock
}

/** Uid of the container's user outside, when the platform runs as root. */
const developerUid = 1000
const logCaps = { maxBytes: 10 * 1024 * 1024, files: 3 }
/** bubblewrap is no OCI runtime. */
const ociRuntimes: OciRuntimes = { listed: [], default: null }
/** Longest path of a unix socket, without its terminating zero. */
const maxSocketPath = 107

/**
 * Containers without an engine: bubblewrap processes, each with a supervisor that outlives the platform.
 * Works as root and as an ordinary user; `isolation.weaker` lists what this host lacks.
 */
export async function createSandboxContainers(options: SandboxOptions): Promise<Containers> {
  const folders = foldersOf(join(options.stateDir, safeInstall(options.install)))
  const socketPath = join(folders.gateway, gatewaySocketName)
  if (Buffer.byteLength(socketPath) > maxSocketPath) {
    throw new Error(
      `ROOST_DATA_DIR: ${socketPath} is longer than the ${maxSocketPath} bytes of a socket's path; choose a shorter folder`,
    )
  }
  const isRoot = process.geteuid?.() === 0
  const bwrapPath = options.bwrapPath ?? '/usr/bin/bwrap'
  const cpus = availableParallelism()
  const store = createStore(folders, isRoot)
  const control = createControl(folders, store)
  const rate = createCpuRate()
  await store.prepare()
  const engineId = `sandbox:${await store.identity()}`
  const allMounts = await findCgroupMounts()
  const cgroups: CgroupMounts | null = (await mayLimit(allMounts, isRoot)) ? allMounts : null
  let usableVersion: string | null = null

  const ensureNetwork = async (): Promise<AgentsNetwork> => ({
    hostAddress: { type: 'unix', path: socketPath },
    platformUrlHost: '127.0.0.1',
  })

  return {
    kind: 'sandbox',
    publishesSsh: false,
    isolation: { level: 'sandbox', weaker: weakerThanContainers({ isRoot, hasCgroups: cgroups !== null }) },
    runtimes: ociRuntimes,

    async ping(signal) {
      usableVersion = await probeBubblewrap(bwrapPath, isRoot, signal)
      return { id: engineId, name: 'bubblewrap', version: usableVersion, cpus, memoryBytes: totalmem() }
    },

    hasImage: async (image) => (await resolve(image)) !== null,

    // A sandbox has no network: only the platform's proxy leads out, and it refuses inner addresses.
    networkFilter: { isActive: true, problem: null },
    filterNetwork: async () => {},
    closing: {
      can: true,
      always: true,
      notes: ['A sandbox has no network access: in mode off it reaches only the platform.'],
    },
    ensureNetwork,
    ensureClosedNetwork: ensureNetwork,

    async create(spec) {
      await usable()
      requireRuntime(spec.runtime, ociRuntimes)
      await check(spec)
      return {
        id: await store.add({ ...spec, labels: { ...spec.labels, 'roost.install': options.install } }),
      }
    },

    start: (id) =>
      control.serially(id, async () => {
        const { spec } = await own(id)
        await usable()
        control.buryIfDead(id)
        await control.start(id, () => launchOf(id, spec))
      }),

    stop: (id, graceSeconds) =>
      control.serially(id, async () => {
        await own(id)
        control.buryIfDead(id)
        await control.end(id, graceSeconds)
      }),

    remove: (id) =>
      control.serially(id, async () => {
        const stored = await store.spec(id)
        if (!stored) return
        await control.end(id, 0)
        await store.remove(id, stored.spec.name)
        if (cgroups) await control.removeCgroups(usageFolders(cgroups, id).values())
        rate.forget(id)
        const at = new Date().toISOString()
        appendToJournal(folders.journal, { type: 'removed', id, name: stored.spec.name, at })
      }),

    inspect: (id) => store.state(id),

    list,

    async logs(id, tail) {
      await own(id)
      return tailLog(store.folderOf(id), tail, logCaps.files)
    },

    async sample(id) {
      const [state, stored] = await Promise.all([store.state(id), store.spec(id)])
      const run = state?.status === 'running' ? await store.runState(id) : null
      const usage = run?.pid ? await readUsage(cgroups, id, run.pid) : null
      if (!usage || !stored) {
        rate.forget(id)
        return null
      }
      return {
        cpuPercent: rate.percent(id, usage.cpuNanoseconds, performance.now()),
        memoryUsedBytes: usage.memoryBytes,
        memoryLimitBytes: stored.spec.memoryBytes,
        // Only loopback exists: agents talk to the platform through a socket file.
        networkRxBytes: null,
        networkTxBytes: null,
        sampledAt: new Date().toISOString(),
      }
    },

    async diskFigures(signal) {
      const names = await store.volumes()
      const data = names.map((name) => volumeData(folders, name))
      // A sandbox has no writable layer: everything outside its volumes is read-only or in memory.
      return { containers: new Map(), volumes: await volumeSizes(data, signal) }
    },

    events: (signal) =>
      followSandboxEvents(
        {
          journal: folders.journal,
          usable,
          async sweep() {
            for (const id of await store.ids()) control.buryIfDead(id)
          },
          sweepSeconds: options.sweepSeconds ?? 5,
          clock: options.clock,
        },
        signal,
      ),

    createVolume: (name, labels) => store.addVolume(name, { ...labels, 'roost.install': options.install }),
    async removeVolume(name) {
      const holder = (await list()).find(({ volumes }) => volumes.includes(name))
      if (holder) throw new ContainerError('volume_in_use', `${holder.name} mounts volume ${name}`)
      await store.removeVolume(name)
    },
    listVolumes: () => store.volumes(),

    async close() {},
  }

  async function list() {
    const states = await Promise.all((await store.ids()).map((id) => store.state(id)))
    return states.filter((state) => state !== null)
  }

  /** Probes the host; repeated until it succeeds once. */
  async function usable(): Promise<void> {
    usableVersion ??= await probeBubblewrap(bwrapPath, isRoot)
  }

  async function own(id: string) {
    const stored = await store.spec(id)
    if (!stored) throw new ContainerError('no_such_container', `no container ${JSON.stringify(id)}`)
    return stored
  }

  /** Returns the image if all files that it binds exist. */
  async function resolve(image: string): Promise<SandboxImage | null> {
    const found = await options.resolveImage(image)
    if (!found) return null
    const present = await Promise.all(found.readOnlyBinds.map(({ source }) => exists(source)))
    return present.every(Boolean) ? found : null
  }

  async function check(spec: ContainerSpec): Promise<void> {
    safeName(spec.name)
    if (!(await resolve(spec.image)))
      throw new ContainerError('image_missing', `no runtime for ${spec.image}`)
    const texts = [spec.name, ...Object.entries(spec.env).flat()]
    // A zero byte ends an argument, so a value could add arguments.
    if (texts.some((text) => text.includes('\0'))) {
      throw new ContainerError('engine_fault', `${spec.name}: its environment contains a zero byte`)
    }
    for (const mount of spec.mounts) {
      const isClean = isAbsolute(mount.target) && normalize(mount.target) === mount.target
      if (!isClean)
        throw new ContainerError('engine_fault', `${mount.target} is not a normalized absolute path`)
      if (mount.type === 'empty') continue
      if (!(await store.hasVolume(mount.volume)))
        throw new ContainerError('engine_fault', `${spec.name}: volume ${mount.volume} does not exist`)
    }
  }

  async function launchOf(id: string, spec: ContainerSpec): Promise<Launch> {
    const image = await resolve(spec.image)
    if (!image) throw new ContainerError('image_missing', `no runtime for ${spec.image}`)
    const plan = cgroups && planCgroups(cgroups, id, spec, cpus)
    const facts: LaunchFacts = {
      folders,
      containerFolder: store.folderOf(id),
      bwrapPath,
      isRoot,
      resourceLimits: plan
        ? null
        : // The limit counts all of a user's threads, so it is added to those already running.
          {
            memoryBytes: spec.memoryBytes,
            processes:
              spec.maxProcesses + (await threadsOf(isRoot ? developerUid : (process.getuid?.() ?? 0))),
          },
      processFiles: plan?.processFiles ?? [],
    }
    return {
      id,
      script: launchScript(spec, image, facts),
      bwrapArguments: bwrapArguments(spec, image, facts),
      cgroups: plan,
      restart: options.restart ?? defaultRestartPolicy,
      log: logCaps,
      journal: folders.journal,
    }
  }
}

/** Wider than container names: installation names may start with a dash or an underscore. */
function safeInstall(install: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(install)) return install
  throw new Error(`the installation's name ${JSON.stringify(install)} cannot be a folder's`)
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Sentences about what a sandbox on this host lacks compared with an engine's container. */
function weakerThanContainers(host: { isRoot: boolean; hasCgroups: boolean }): string[] {
  return [
    'Agents share the host’s programs and libraries, read-only, instead of their own image.',
    'System calls are not filtered: there is no seccomp or AppArmor profile.',
    'There is no SSH access and no internet access: agents reach only the platform.',
    'Full capabilities do not allow sudo.',
    'After a restart of the host agents start again with the platform, not by themselves.',
    ...(host.isRoot
      ? []
      : [
          'The platform runs as an ordinary user, so all turns of an agent run as one user: people who share it are not kept apart, and read-only mode binds only tools that write files.',
          'Programs may be run from /tmp.',
        ]),
    ...(host.hasCgroups
      ? []
      : [
          'Memory and processes are limited per process, not for the whole agent, and CPU time is not limited.',
          'An end caused by the memory limit looks like any other end.',
        ]),
  ]
}
