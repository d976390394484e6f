import type { AvailableFolder, ConsumedFolder } from '@roost/contracts/agents/folders'

/** Containers take folders when they start, so each is there now, from the next start on, or until then. */
export type Standing = 'mounted' | 'coming' | 'leaving' | 'unread'

export const standingWords: Record<Standing, string> = {
  mounted: 'Mounted',
  coming: 'From the next start',
  leaving: 'Until the next start',
  unread: 'Not read',
}

export type ReadFolder = { source: string; path: string; standing: Standing }

export function standingOf({
  currently_mounted,
  after_restart,
}: Pick<ConsumedFolder, 'currently_mounted' | 'after_restart'>): Standing {
  if (after_restart === 'gone') return 'leaving'
  return currently_mounted ? 'mounted' : 'coming'
}

/** What an agent reads or will, and after that what it might. */
export function readFolders(
  consumed: readonly ConsumedFolder[],
  available: readonly AvailableFolder[],
): ReadFolder[] {
  const read = consumed.map((folder) => ({
    source: folder.source_agent,
    path: folder.mount_path,
    standing: standingOf(folder),
  }))
  const known = new Set(read.map(({ path }) => path))
  const rest = available
    .filter(({ mount_path }) => !known.has(mount_path))
    .map(({ source_agent, mount_path }) => ({
      source: source_agent,
      path: mount_path,
      standing: 'unread' as const,
    }))
  return [...read, ...rest]
}
