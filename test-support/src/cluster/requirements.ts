import { readdir, readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** Control groups that the kubelet of Kubernetes 1.20 manages. */
const controllers = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids']
const cgroupRoot = '/sys/fs/cgroup'
/** Debian 12. Its source package is the last one whose control plane was built and tried. */
const release = 'bookworm'
const overlayMagic = 0x794c7630

/** What the machine has, for `missingRequirement`. */
export type MachineFacts = {
  isRoot: boolean
  /** `VERSION_CODENAME` of /etc/os-release; null if it has none. */
  codename: string | null
  /** Controllers with a hierarchy of their own (version 1). */
  controllers: readonly string[]
  forwardsPackets: boolean
  /** Whether the cache folder is on an overlay file system, which cannot hold the layers of other containers. */
  isCacheOverlaid: boolean
  /** Whether the programs were built before. */
  isBuilt: boolean
}

export async function readMachineFacts(cache: string, isBuilt: boolean): Promise<MachineFacts> {
  const system = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const groups = await readdir(cgroupRoot).catch((): string[] => [])
  const forwarding = await readFile('/proc/sys/net/ipv4/ip_forward', 'utf8').catch(() => '0')
  return {
    isRoot: process.getuid?.() === 0,
    codename: /^VERSION_CODENAME=(.*)$/m.exec(system)?.[1] ?? null,
    controllers: controllers.filter((name) => groups.includes(name)),
    forwardsPackets: forwarding.trim() === '1',
    isCacheOverlaid: await statfs(cache).then(
      ({ type }) => type === overlayMagic,
      () => false,
    ),
    isBuilt,
  }
}

/** Returns what a cluster needs and this machine lacks, as one sentence; null if it has everything. */
export function missingRequirement(facts: MachineFacts): string | null {
  const lacks = controllers.filter((name) => !facts.controllers.includes(name))
  if (!facts.isRoot) return 'A cluster needs root, for namespaces, control groups and network links.'
  if (lacks.length > 0)
    return `A cluster needs control groups of version 1 in ${cgroupRoot}; missing: ${lacks.join(', ')}. A boot with systemd.unified_cgroup_hierarchy=0 provides them.`
  if (facts.codename !== release && !facts.isBuilt)
    return `The control plane is built from packages of Debian 12 (${release}); this is ${facts.codename ?? 'another system'}.`
  if (!facts.forwardsPackets)
    return 'A cluster needs IP forwarding, which Docker switches on: sysctl net.ipv4.ip_forward=1'
  if (facts.isCacheOverlaid)
    return 'The cache folder is on an overlay file system, which cannot hold image layers. Set ROOST_CLUSTER_CACHE to a folder on a disk.'
  return null
}

/** The control group hierarchies in which a node gets groups of its own. */
export async function cgroupFolders(): Promise<string[]> {
  const entries = await readdir(cgroupRoot, { withFileTypes: true })
  // Links are second names of joined controllers. The unified hierarchy has no controller here.
  return entries
    .filter((entry) => entry.isDirectory() && entry.name !== 'unified')
    .map(({ name }) => join(cgroupRoot, name))
}
