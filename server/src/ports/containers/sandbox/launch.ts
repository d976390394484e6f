import { lstatSync, readlinkSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { ContainerError, type ContainerSpec, type Mount } from '../port.ts'
import { containerFiles, type Folders } from './folders.ts'

/** A sandbox image: programs of this host, mounted read-only. */
export type SandboxImage = {
  /** Host folders or files that the container sees at `target`; later ones cover earlier ones. */
  readOnlyBinds: { source: string; target: string }[]
  /** First process. As root it starts with the capabilities of an agent's container, else as `developer`. */
  command: string[]
  /** Defaults that the spec's environment overrides. */
  env: Record<string, string>
}

export type LaunchFacts = {
  folders: Folders
  containerFolder: string
  bwrapPath: string
  isRoot: boolean
  /** Limits per process, for users without control groups; null when control groups are used. */
  resourceLimits: { memoryBytes: number; processes: number } | null
  /** Control group files to which the first process adds itself. */
  processFiles: string[]
}

/** Path of the platform's socket inside, passed to the agent program as `ROOST_GATEWAY_SOCKET`. */
const gatewayInside = '/run/roost'
export const gatewaySocketName = 'gateway.sock'

const home = '/home/developer'
const baseCapabilities = ['SETUID', 'SETGID', 'CHOWN', 'NET_BIND_SERVICE', 'SYS_CHROOT', 'AUDIT_WRITE']
const fullCapabilities = ['DAC_OVERRIDE', 'FOWNER', 'KILL']

/** The host's /etc files that agents see: public ones for name lookups, libraries and certificates. */
const sharedEtc = [
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/etc/localtime',
  '/etc/mime.types',
  '/etc/protocols',
  '/etc/services',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/ca-trust/extracted',
  '/etc/pki/tls/certs',
]

/** Standard character devices: name, major and minor number. */
const devices: [string, number, number][] = [
  ['null', 1, 3],
  ['zero', 1, 5],
  ['full', 1, 7],
  ['random', 1, 8],
  ['urandom', 1, 9],
  ['tty', 5, 0],
]

/** Returns bubblewrap's arguments, including the environment but not the command. */
export function bwrapArguments(spec: ContainerSpec, image: SandboxImage, facts: LaunchFacts): string[] {
  const { folders } = facts
  const env: Record<string, string> = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...image.env,
    ...spec.env,
    ROOST_GATEWAY_SOCKET: join(gatewayInside, gatewaySocketName),
  }
  return [
    ...['--unshare-pid', '--unshare-uts', '--unshare-ipc', '--unshare-net', '--unshare-cgroup-try'],
    ...(facts.isRoot ? [] : ['--unshare-user', '--uid', '1000', '--gid', '1000']),
    ...['--die-with-parent', '--new-session', '--hostname', spec.name.slice(0, 63)],
    ...['--cap-drop', 'ALL', ...(facts.isRoot ? capabilities(spec) : [])],
    ...['--clearenv', ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])],
    ...openFolders(['/home/x', '/run/x', '/var/x', ...sharedEtc]),
    ...closedHomes(facts),
    ...systemFolders(),
    ...sharedEtc.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['passwd', 'group', 'hosts', 'nsswitch.conf'].flatMap((file) => [
      '--ro-bind',
      join(folders.etc, file),
      `/etc/${file}`,
    ]),
    ...['--proc', '/proc', '--dev', '/dev', ...closedProc(), ...ownDevices(facts)],
    ...['--perms', '1777', '--size', String(spec.tmpBytes), '--tmpfs', '/dev/shm'],
    ...temporaryFolder(spec, facts),
    ...['--symlink', '/tmp', '/var/tmp'],
    ...image.readOnlyBinds.flatMap(({ source, target }) => [
      ...openFolders([target]),
      ...['--ro-bind', source, target],
    ]),
    ...mounts(spec, folders),
    ...['--ro-bind', folders.gateway, gatewayInside],
    // The root and /dev are in-memory file systems; left writable, they would bypass the limits.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
  ]
}

/**
 * Returns the shell script around bubblewrap, which joins the control groups or sets limits per process. For
 * root it also creates, in a private mount namespace, what bubblewrap lacks: a noexec /tmp and own devices.
 */
export function launchScript(spec: ContainerSpec, image: SandboxImage, facts: LaunchFacts): string {
  const command = image.command.map(quote).join(' ')
  const bwrap = `exec ${quote(facts.bwrapPath)} --args 3 --info-fd 4 --chdir "$start" -- ${command}`
  const lines = facts.processFiles.map((file) => `echo 0 > ${quote(file)} || exit 125`)
  if (facts.resourceLimits) {
    lines.push(`ulimit -d ${Math.ceil(facts.resourceLimits.memoryBytes / 1024)} || exit 125`)
    // Shells disagree about the option; without a known one the limit is skipped.
    const processes = facts.resourceLimits.processes
    lines.push(`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`)
  }
  if (!facts.isRoot) return [...lines, ...startFolder(spec, facts), bwrap].join('\n')
  const tmp = quote(join(facts.containerFolder, containerFiles.tmp))
  const dev = quote(join(facts.containerFolder, containerFiles.devices))
  const homes = quote(join(facts.containerFolder, containerFiles.homes))
  const inner = [
    `mount -t tmpfs -o noexec,nosuid,nodev,mode=1777,size=${spec.tmpBytes} tmpfs ${tmp} || exit 125`,
    `mount -t tmpfs -o noexec,nosuid,mode=755,size=64k tmpfs ${dev} || exit 125`,
    `mkdir -p ${homes}/developer && chown 0:${workspaceGroup} ${homes} && chmod 0750 ${homes} || exit 125`,
    ...devices.map(([name, major, minor]) => `mknod -m 666 ${dev}/${name} c ${major} ${minor} || exit 125`),
    ...startFolder(spec, facts),
    bwrap,
  ].join('\n')
  return [...lines, `exec unshare --mount --propagation private /bin/sh -c ${quote(inner)}`].join('\n')
}

/** As in the agent image, only members of this group may pass through /home. bubblewrap cannot set groups. */
const workspaceGroup = 902

function closedHomes({ isRoot, containerFolder }: LaunchFacts): string[] {
  return isRoot ? ['--ro-bind', join(containerFolder, containerFiles.homes), '/home'] : []
}

function capabilities(spec: ContainerSpec): string[] {
  const names = spec.fullCapabilities ? [...baseCapabilities, ...fullCapabilities] : baseCapabilities
  return names.flatMap((name) => ['--cap-add', `CAP_${name}`])
}

/** Mounts /usr and its companions as on this host: links on merged systems, folders elsewhere. */
function systemFolders(): string[] {
  const found = ['--ro-bind', '/usr', '/usr']
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    if (entry?.isSymbolicLink()) found.push('--symlink', readlinkSync(path), path)
    else if (entry?.isDirectory()) found.push('--ro-bind', path, path)
  }
  return found
}

/**
 * Protects the kernel's settings and secrets in /proc like an engine. Root could access them without any
 * capability: /proc/sys/kernel/core_pattern alone allows an escape.
 */
function closedProc(): string[] {
  const isPresent = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return [
    ...['/proc/sys', '/proc/fs', '/proc/irq', '/proc/bus', '/proc/sysrq-trigger']
      .filter(isPresent)
      .flatMap((path) => ['--ro-bind', path, path]),
    ...['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug', '/proc/latency_stats']
      .filter(isPresent)
      .flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['/proc/acpi', '/proc/asound', '/proc/scsi']
      .filter(isPresent)
      .flatMap((path) => ['--size', '4096', '--tmpfs', path, '--remount-ro', path]),
  ]
}

/**
 * Bubblewrap binds the host's own device nodes, which root could chmod for the whole host. For root the
 * script creates the container's own nodes, mounted over them.
 */
function ownDevices(facts: LaunchFacts): string[] {
  if (!facts.isRoot) return []
  const folder = join(facts.containerFolder, containerFiles.devices)
  return devices.flatMap(([name]) => ['--dev-bind', join(folder, name), `/dev/${name}`])
}

function temporaryFolder(spec: ContainerSpec, facts: LaunchFacts): string[] {
  return facts.isRoot
    ? ['--bind', join(facts.containerFolder, containerFiles.tmp), '/tmp']
    : ['--perms', '1777', '--size', String(spec.tmpBytes), '--tmpfs', '/tmp']
}

function mounts(spec: ContainerSpec, folders: Folders): string[] {
  // Parents first: later mounts cover earlier ones.
  const ordered = spec.mounts.toSorted((a, b) => a.target.length - b.target.length)
  return [
    ...(homeMount(spec) ? [] : ['--perms', '0777', '--size', String(spec.tmpBytes), '--tmpfs', home]),
    ...ordered.flatMap((mount) => [...openFolders([mount.target]), ...mountArguments(mount, folders)]),
    // Read-only only now, because the mount points were created inside.
    ...ordered.flatMap(({ type, target }) => (type === 'empty' ? ['--remount-ro', target] : [])),
  ]
}

function mountArguments(mount: Mount, folders: Folders): string[] {
  if (mount.type === 'empty') return ['--perms', '0555', '--size', '65536', '--tmpfs', mount.target]
  return [mount.readOnly ? '--ro-bind' : '--bind', volumeData(folders, mount.volume), mount.target]
}

function homeMount(spec: ContainerSpec): VolumeMount | undefined {
  return spec.mounts
    .filter((mount) => mount.type === 'volume')
    .find(({ target }) => normalize(target) === home)
}

type VolumeMount = Extract<Mount, { type: 'volume' }>

/**
 * Sets `$start` to the home. Root without capabilities cannot enter a home closed with `chmod 700`, and the
 * container would fail to start; it then starts at the root folder.
 */
function startFolder(spec: ContainerSpec, { isRoot, folders }: LaunchFacts): string[] {
  const mount = homeMount(spec)
  if (!isRoot || !mount) return [`start=${home}`]
  const isOpenTest = `find ${quote(volumeData(folders, mount.volume))} -maxdepth 0 -perm -001`
  return [`start=/; [ -z "$(${isOpenTest})" ] || start=${home}`]
}

/** Creates the parents of paths with open permissions; bubblewrap alone creates them for root only. */
function openFolders(paths: string[]): string[] {
  const parents = paths.flatMap((path) => {
    const parts = path.split('/').slice(1, -1)
    return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)
  })
  return [...new Set(parents)].flatMap((path) => ['--perms', '0755', '--dir', path])
}

export function volumeData(folders: Folders, volume: string): string {
  return join(folders.volumes, safeName(volume), 'data')
}

/** Names become file names, so they must be safe. */
export function safeName(name: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,200}$/.test(name)) return name
  throw new ContainerError('engine_fault', `${JSON.stringify(name)} cannot be a name`)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
