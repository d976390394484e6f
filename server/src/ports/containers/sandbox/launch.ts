import { lstatSync, readlinkSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { ContainerError, type ContainerSpec, type Mount } from '../port.ts'
import { containerFiles, type Folders } from './folders.ts'

/** What an image name stands for where there are no images: programs of this host, seen read-only. */
export type SandboxImage = {
  /** Folders or files of the host that the container sees at `target`; later ones lie over earlier ones. */
  readOnlyBinds: { source: string; target: string }[]
  /** First process. As root it starts with the capabilities that an agent's container keeps, else as `developer`. */
  command: string[]
  /** Lies under the environment of the spec. */
  env: Record<string, string>
}

export type LaunchFacts = {
  folders: Folders
  containerFolder: string
  bwrapPath: string
  isRoot: boolean
  /** Limits that hold per process, for users without control groups; null where groups do the work. */
  resourceLimits: { memoryBytes: number; processes: number } | null
  /** Control group files that the first process writes itself into. */
  processFiles: string[]
}

/** Path of the platform's socket inside, told to the agent program as `ROOST_GATEWAY_SOCKET`. */
const gatewayInside = '/run/roost'
export const gatewaySocketName = 'gateway.sock'

const home = '/home/developer'
const kept = ['SETUID', 'SETGID', 'CHOWN', 'NET_BIND_SERVICE', 'SYS_CHROOT', 'AUDIT_WRITE']
const keptWhenFull = ['DAC_OVERRIDE', 'FOWNER', 'KILL']

/** What agents see of the host's /etc: public, and needed for name look-ups, libraries and certificates. */
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

/** Character devices that every program expects: name, major and minor number. */
const devices: [string, number, number][] = [
  ['null', 1, 3],
  ['zero', 1, 5],
  ['full', 1, 7],
  ['random', 1, 8],
  ['urandom', 1, 9],
  ['tty', 5, 0],
]

/** Bubblewrap's arguments but for the command, the environment among them. */
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
    // The root and /dev are file systems in memory: left writable they would be a way around the limits.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
  ]
}

/**
 * The shell script around bubblewrap: joins the control groups or sets the limits per process; for root it
 * also makes, in a mount namespace that ends with it, what bubblewrap has no words for: a /tmp that runs
 * nothing and devices of the container's own.
 */
export function launchScript(spec: ContainerSpec, image: SandboxImage, facts: LaunchFacts): string {
  const command = image.command.map(quote).join(' ')
  const bwrap = `exec ${quote(facts.bwrapPath)} --args 3 --info-fd 4 --chdir "$start" -- ${command}`
  const lines = facts.processFiles.map((file) => `echo 0 > ${quote(file)} || exit 125`)
  if (facts.resourceLimits) {
    lines.push(`ulimit -d ${Math.ceil(facts.resourceLimits.memoryBytes / 1024)} || exit 125`)
    // Shells disagree about the letter; where none is known the limit is left out.
    const processes = facts.resourceLimits.processes
    lines.push(`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`)
  }
  if (!facts.isRoot) return [...lines, ...chooseStart(spec, facts), bwrap].join('\n')
  const tmp = quote(join(facts.containerFolder, containerFiles.tmp))
  const dev = quote(join(facts.containerFolder, containerFiles.devices))
  const inner = [
    `mount -t tmpfs -o noexec,nosuid,nodev,mode=1777,size=${spec.tmpBytes} tmpfs ${tmp} || exit 125`,
    `mount -t tmpfs -o noexec,nosuid,mode=755,size=64k tmpfs ${dev} || exit 125`,
    ...devices.map(([name, major, minor]) => `mknod -m 666 ${dev}/${name} c ${major} ${minor} || exit 125`),
    ...chooseStart(spec, facts),
    bwrap,
  ].join('\n')
  return [...lines, `exec unshare --mount --propagation private /bin/sh -c ${quote(inner)}`].join('\n')
}

function capabilities(spec: ContainerSpec): string[] {
  const names = spec.fullCapabilities ? [...kept, ...keptWhenFull] : kept
  return names.flatMap((name) => ['--cap-add', `CAP_${name}`])
}

/** /usr and what leads there, as this host has it: links on merged systems, folders elsewhere. */
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
 * The kernel's settings and the host's secrets in /proc, closed as an engine closes them. For root they are
 * open otherwise, capabilities or not: /proc/sys/kernel/core_pattern alone is a way onto the host.
 */
function closedProc(): string[] {
  const there = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return [
    ...['/proc/sys', '/proc/fs', '/proc/irq', '/proc/bus', '/proc/sysrq-trigger']
      .filter(there)
      .flatMap((path) => ['--ro-bind', path, path]),
    ...['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug', '/proc/latency_stats']
      .filter(there)
      .flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['/proc/acpi', '/proc/asound', '/proc/scsi']
      .filter(there)
      .flatMap((path) => ['--size', '4096', '--tmpfs', path, '--remount-ro', path]),
  ]
}

/**
 * Bubblewrap shows the host's own device nodes. Root owns those and could take them from the whole host
 * with a chmod, so for root the script makes nodes of the container's own, which lie over them.
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
  // Parents first: what is mounted later lies on top.
  const ordered = spec.mounts.toSorted((a, b) => a.target.length - b.target.length)
  return [
    ...(homeMount(spec) ? [] : ['--perms', '0777', '--size', String(spec.tmpBytes), '--tmpfs', home]),
    ...ordered.flatMap((mount) => [...openFolders([mount.target]), ...mountArguments(mount, folders)]),
    // Only now: the places that others are mounted on are made in it.
    ...ordered.flatMap(({ type, target }) => (type === 'empty' ? ['--remount-ro', target] : [])),
  ]
}

function mountArguments(mount: Mount, folders: Folders): string[] {
  if (mount.type === 'empty') return ['--perms', '0555', '--size', '65536', '--tmpfs', mount.target]
  return [mount.readOnly ? '--ro-bind' : '--bind', sourceOf(mount, folders), mount.target]
}

function homeMount(spec: ContainerSpec): SourcedMount | undefined {
  return spec.mounts
    .filter((mount) => mount.type !== 'empty')
    .find(({ target }) => normalize(target) === home)
}

type SourcedMount = Exclude<Mount, { type: 'empty' }>

function sourceOf(mount: SourcedMount, folders: Folders): string {
  return mount.type === 'volume' ? volumeData(folders, mount.volume) : mount.source
}

/**
 * Sets `$start`: the home. Root without its capabilities may not enter one that its owner has closed to
 * others, and the container would not come up again after a `chmod 700`: it then starts at the root.
 */
function chooseStart(spec: ContainerSpec, { isRoot, folders }: LaunchFacts): string[] {
  const mount = homeMount(spec)
  if (!isRoot || !mount) return [`start=${home}`]
  const open = `find ${quote(sourceOf(mount, folders))} -maxdepth 0 -perm -001`
  return [`start=/; [ -z "$(${open})" ] || start=${home}`]
}

/** The folders above some paths. Left to itself bubblewrap makes them for root alone. */
function openFolders(paths: string[]): string[] {
  const above = paths.flatMap((path) => {
    const parts = path.split('/').slice(1, -1)
    return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)
  })
  return [...new Set(above)].flatMap((path) => ['--perms', '0755', '--dir', path])
}

export function volumeData(folders: Folders, volume: string): string {
  return join(folders.volumes, safeName(volume), 'data')
}

/** Names become file names here, so they must be able to. */
export function safeName(name: string): string {
  if (/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,200}$/.test(name)) return name
  throw new ContainerError('engine_fault', `${JSON.stringify(name)} cannot be a name`)
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
