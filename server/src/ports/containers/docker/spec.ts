import type { ContainerCreateOptions, MountSettings } from 'dockerode'
import type { ContainerSpec, Mount } from '../port.ts'

/** Properties of the engine that affect how containers are described. */
export type EngineTraits = {
  cpus: number
  /** Podman starts no container if its default limits exceed those of its service. */
  ulimits: { Name: string; Soft: number; Hard: number }[]
  /** Whether bridges can isolate containers of one network; Podman ignores the option. */
  canSeparate: boolean
  /** Whether volumes can be mounted on top of others; an engine without root cannot rename their folders. */
  canLayer: boolean
}

export const baseCapabilities = [
  'NET_BIND_SERVICE',
  'SETGID',
  'SETUID',
  'CHOWN',
  'SYS_CHROOT',
  'AUDIT_WRITE',
] as const
export const fullCapabilities = ['DAC_OVERRIDE', 'FOWNER', 'KILL'] as const
const sshPort = '22/tcp'

/** Returns the Engine API's options for a container; sets everything that the contract fixes. */
export function createOptions(
  spec: ContainerSpec,
  install: string,
  network: string,
  traits: EngineTraits,
): ContainerCreateOptions {
  const ssh = spec.isClosed ? null : spec.ssh
  return {
    Image: spec.image,
    Labels: { ...spec.labels, 'roost.install': install },
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    ...(ssh && { ExposedPorts: { [sshPort]: {} } }),
    HostConfig: {
      NetworkMode: network,
      ...(spec.runtime && { Runtime: spec.runtime }),
      ...(ssh && {
        PortBindings: { [sshPort]: [{ HostIp: ssh.bind, HostPort: String(ssh.port) }] },
      }),
      // Engines before 2024 forward DNS queries of closed containers to the host's name servers, which leaks
      // data. No name server runs in the container itself.
      ...(spec.isClosed && { Dns: ['127.0.0.1'] }),
      CapDrop: ['ALL'],
      CapAdd: spec.fullCapabilities ? [...baseCapabilities, ...fullCapabilities] : [...baseCapabilities],
      // Without a named profile the engine uses its default seccomp and AppArmor profiles.
      SecurityOpt: spec.fullCapabilities ? [] : ['no-new-privileges:true'],
      Privileged: false,
      Memory: spec.memoryBytes,
      // Memory and swap together: equal to the memory limit means no swap.
      MemorySwap: spec.memoryBytes,
      // Engines refuse more CPUs than the host has; the stored setting is unchanged.
      NanoCpus: Math.round(Math.min(spec.cpus, traits.cpus) * 1e9),
      PidsLimit: spec.maxProcesses,
      Tmpfs: { '/tmp': `rw,noexec,nosuid,nodev,mode=1777,size=${spec.tmpBytes}`, ...emptyFolders(spec) },
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
      RestartPolicy: { Name: 'unless-stopped' },
      Mounts: spec.mounts.flatMap((mount) => mountSettings(mount, install)),
      Ulimits: traits.ulimits,
    },
  }
}

/** The engine creates mount points inside, then makes the folder read-only. */
function emptyFolders(spec: ContainerSpec): Record<string, string> {
  const empty = spec.mounts.filter(({ type }) => type === 'empty')
  return Object.fromEntries(empty.map(({ target }) => [target, 'ro,noexec,nosuid,nodev,mode=0555,size=64k']))
}

function mountSettings(mount: Mount, install: string): MountSettings[] {
  if (mount.type !== 'volume') return []
  return [
    {
      Type: 'volume',
      Source: mount.volume,
      Target: mount.target,
      ReadOnly: mount.readOnly ?? false,
      VolumeOptions: {
        // Read-only volumes belong to another agent and must not be filled from the image.
        NoCopy: mount.readOnly ?? false,
        // If the volume was just deleted, the engine creates it again; the label keeps it ours.
        Labels: { 'roost.install': install },
        DriverConfig: { Name: '', Options: {} },
      },
    },
  ]
}
