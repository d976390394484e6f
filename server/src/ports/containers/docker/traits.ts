import { readFile } from 'node:fs/promises'
import type Docker from 'dockerode'
import { type Closing, ContainerError, type EngineInfo, type Isolation, type OciRuntimes } from '../port.ts'
import { type Ask, get } from './connect.ts'
import type { EngineTraits } from './spec.ts'

export type Traits = {
  /** Queries the engine's identity again. */
  refresh(signal?: AbortSignal): Promise<EngineInfo>
  /** Returns the traits for container descriptions; queries the engine only once. */
  get(): Promise<EngineTraits>
  isolation(): Isolation
  runtimes(): OciRuntimes
  closing(isFiltered: boolean): Closing
}

type VersionAnswer = { Version: string; Components?: { Name: string }[] }
type InfoAnswer = {
  ID?: string
  Name?: string
  DockerRootDir?: string
  NCPU: number
  MemTotal: number
  Runtimes?: Record<string, unknown> | null
  DefaultRuntime?: string
  SecurityOptions?: string[] | null
}

/** Detects the engine behind the socket: Docker, or Podman with the same API. */
export function createTraits(docker: Docker, ask: Ask): Traits {
  let known: EngineTraits | null = null
  let runtimes: OciRuntimes = { listed: [], default: null }
  const traits: Traits = {
    async refresh(signal) {
      const version = await ask(
        'ask for the version',
        (abort) => get<VersionAnswer>(docker, '/version', abort),
        { signal },
      )
      const info = await ask('ask for the host', (abort) => get<InfoAnswer>(docker, '/info', abort), {
        signal,
      })
      const podman = (version.Components ?? []).some(({ Name }) => /podman/i.test(Name))
      const isRootless = (info.SecurityOptions ?? []).includes('name=rootless')
      known = {
        cpus: info.NCPU,
        ulimits: podman ? await ownUlimits() : [],
        canSeparate: !podman,
        canLayer: !podman && !isRootless,
      }
      runtimes = {
        listed: Object.keys(info.Runtimes ?? {}).sort(),
        default: info.DefaultRuntime || null,
      }
      return {
        id: identityOf(info, podman),
        name: podman ? 'Podman' : 'Docker',
        version: version.Version,
        cpus: info.NCPU,
        memoryBytes: info.MemTotal,
      }
    },
    async get() {
      if (!known) await traits.refresh()
      // Unknown only after a failed refresh, which has thrown.
      return known ?? { cpus: 1, ulimits: [], canSeparate: true, canLayer: false }
    },
    runtimes: () => runtimes,
    // Fail closed: neighbours and DNS queries would leak data.
    closing: (isFiltered) =>
      known?.canSeparate === false
        ? {
            can: false,
            always: false,
            notes: [
              'Podman lets containers of one network reach each other and, in some versions, looks up names for closed networks.',
            ],
          }
        : {
            can: true,
            always: false,
            notes: [
              ...(isFiltered
                ? []
                : ['Agents reach programs of this host that listen on all addresses, in every mode.']),
              'SSH access is unavailable while egress is enforced.',
            ],
          },
    isolation: () => ({
      level: 'container',
      weaker:
        known?.canSeparate === false
          ? [
              'Agents can reach each other’s network ports: Podman does not separate containers of one network.',
            ]
          : [],
    }),
  }
  return traits
}

/**
 * Podman answers with another random id each time. An engine filter of an earlier version hides all three fields, and no
 * constant may replace them: two machines would take each other's agents as their own.
 */
function identityOf({ ID, Name, DockerRootDir }: InfoAnswer, isPodman: boolean): string {
  if (!isPodman && ID) return `docker:${ID}`
  if (Name && DockerRootDir) return `podman:${Name}:${DockerRootDir}`
  throw new ContainerError(
    'engine_fault',
    'the engine does not show its identity: update the engine filter in front of it',
  )
}

/**
 * Podman's default limits can exceed what its service may grant, and then no container starts. Uses the
 * limits of this process, except for processes: Podman allows at most 32,768.
 */
async function ownUlimits(): Promise<EngineTraits['ulimits']> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const hard = (label: string) => {
    const word = new RegExp(`^${label}\\s+\\S+\\s+(\\S+)`, 'm').exec(limits)?.[1]
    const value = word === undefined || word === 'unlimited' ? Number.POSITIVE_INFINITY : Number(word)
    return Math.min(value, 16_384)
  }
  const files = hard('Max open files')
  const processes = hard('Max processes')
  return [
    { Name: 'nofile', Soft: files, Hard: files },
    { Name: 'nproc', Soft: processes, Hard: processes },
  ]
}
