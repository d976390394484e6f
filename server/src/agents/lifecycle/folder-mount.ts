import { consumedPath, mountPathOf } from '@roost/contracts/agents/folders'
import type { Mount } from '../../ports/containers/port.ts'

/** The folder of another agent that a container gets. */
export type FolderMount = {
  sourceId: string
  /** Of the publisher, as it is now: the folder stands under it. */
  name: string
  volume: string
}

/** What is remembered of a folder that a container was made with; no name holds an equals sign. */
export function folderMark({ name, volume }: Pick<FolderMount, 'name' | 'volume'>): string {
  return `${name}=${volume}`
}

export function readFolderMark(mark: string): Pick<FolderMount, 'name' | 'volume'> {
  const [name = '', volume = ''] = mark.split('=')
  return { name, volume }
}

/**
 * What others publish, to work in together. They stand in a folder that is empty at each start, so that nothing
 * in the workspace is in their way, and no trace of one that was withdrawn is left there.
 */
export function folderMounts(folders: readonly FolderMount[]): Mount[] {
  const mounts = folders.map(
    ({ name, volume }): Mount => ({ type: 'volume', volume, target: mountPathOf(name) }),
  )
  return [{ type: 'empty', target: consumedPath }, ...mounts]
}
