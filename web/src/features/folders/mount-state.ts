import type { AvailableFolder, ConsumedFolder } from '@roost/contracts/agents/folders'

/** Containers mount folders at their start, so each folder is mounted, pending mount or pending unmount. */
export type MountState = 'mounted' | 'coming' | 'leaving' | 'unread'

export const mountStateLabels: Record<MountState, string> = {
  mounted: 'Mounted',
  coming: 'Mounted at the next start',
  leaving: 'Unmounted at the next start',
  unread: 'Not mounted',
}

export type ReadFolder = { source: string; path: string; mountState: MountState }

export function mountStateOf({
  currently_mounted,
  after_restart,
}: Pick<ConsumedFolder, 'currently_mounted' | 'after_restart'>): MountState {
  if (after_restart === 'gone') return 'leaving'
  return currently_mounted ? 'mounted' : 'coming'
}

/** Folders that the agent reads or will read, then the available ones. */
export function readFolders(
  consumed: readonly ConsumedFolder[],
  available: readonly AvailableFolder[],
): ReadFolder[] {
  const read = consumed.map((folder) => ({
    source: folder.source_agent,
    path: folder.mount_path,
    mountState: mountStateOf(folder),
  }))
  const listedPaths = new Set(read.map(({ path }) => path))
  const rest = available
    .filter(({ mount_path }) => !listedPaths.has(mount_path))
    .map(({ source_agent, mount_path }) => ({
      source: source_agent,
      path: mount_path,
      mountState: 'unread' as const,
    }))
  return [...read, ...rest]
}
