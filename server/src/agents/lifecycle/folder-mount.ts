import { consumedPath, mountPathOf } from '@roost/contracts/agents/folders'
import type { Mount } from '../../ports/containers/port.ts'

/** A folder of another agent, mounted into a container. */
export type FolderMount = {
  sourceId: string
  /** Current name of the publisher; the folder's mount path contains it. */
  name: string
  volume: string
}

/** Serializes a mounted folder for the row; agent names never contain an equals sign. */
export function folderMark({ name, volume }: Pick<FolderMount, 'name' | 'volume'>): string {
  return `${name}=${volume}`
}

export function readFolderMark(mark: string): Pick<FolderMount, 'name' | 'volume'> {
  const [name = '', volume = ''] = mark.split('=')
  return { name, volume }
}

/**
 * Mounts for published folders. They sit in a folder that is empty at each start, so that workspace content
 * never hides them and withdrawn folders leave no trace.
 */
export function folderMounts(folders: readonly FolderMount[]): Mount[] {
  const mounts = folders.map(
    ({ name, volume }): Mount => ({ type: 'volume', volume, target: mountPathOf(name) }),
  )
  return [{ type: 'empty', target: consumedPath }, ...mounts]
}
