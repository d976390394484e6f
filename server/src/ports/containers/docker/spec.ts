import type { ContainerCreateOptions, MountSettings } from 'dockerode'
import type { ContainerSpec, Mount } from '../port.ts'

/** What the engine must be known for before a container can be described to it. */
export type EngineTraits = {
  cpus: number
  /** Podman starts no container under its own default limits when the service's are lower. */
  ulimits: { Name: string; Soft: number; Hard: number }[]
  /** Whether its bridges can keep the containers of one network apart; Podman takes the option and ignores it. */
  canSeparate: boolean
}

const alwaysKept = ['NET_BIND_SERVICE', 'SETGID', 'SETUID', 'CHOWN', 'SYS_CHROOT', 'AUDIT_WRITE']
const whenFull = ['DAC_OVERRIDE', 'FOWNER', 'KILL']
const sshPort = '22/tcp'

/** The container that the Engine API is asked for: what the contract fixes, and nothing on the engine's defaults. */
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
      ...(ssh && {
        PortBindings: { [sshPort]: [{ HostIp: ssh.bind, HostPort: String(ssh.port) }] },
      }),
      // Engines of before 2024 ask the host's name servers even for containers without a way out, and a question is
      // one. In the container itself nobody answers.
      ...(spec.isClosed && { Dns: ['127.0.0.1'] }),
      CapDrop: ['ALL'],
      CapAdd: spec.fullCapabilities ? [...alwaysKept, ...whenFull] : alwaysKept,
      // Naming no seccomp or AppArmor profile is how the engine's default ones are asked for.
      SecurityOpt: spec.fullCapabilities ? [] : ['no-new-privileges:true'],
      Privileged: false,
      Memory: spec.memoryBytes,
      // Memory and swap together: equal to the memory limit means no swap.
      MemorySwap: spec.memoryBytes,
      // More CPUs than the host has is refused by the engine; the stored wish stays as it is.
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

/** The engine makes the places that others are mounted on, and closes the folder after that. */
function emptyFolders(spec: ContainerSpec): Record<string, string> {
  const empty = spec.mounts.filter(({ type }) => type === 'empty')
  return Object.fromEntries(empty.map(({ target }) => [target, 'ro,noexec,nosuid,nodev,mode=0555,size=64k']))
}

function mountSettings(mount: Mount, install: string): MountSettings[] {
  if (mount.type === 'empty') return []
  if (mount.type === 'bind') {
    return [{ Type: 'bind', Source: mount.source, Target: mount.target, ReadOnly: mount.readOnly }]
  }
  return [
    {
      Type: 'volume',
      Source: mount.volume,
      Target: mount.target,
      ReadOnly: mount.readOnly ?? false,
      VolumeOptions: {
        // What is only read is not filled from the image either: it is somebody else's.
        NoCopy: mount.readOnly ?? false,
        // A volume that vanished between our look and the start is made anew by the engine: keep it ours.
        Labels: { 'roost.install': install },
        DriverConfig: { Name: '', Options: {} },
      },
    },
  ]
}
