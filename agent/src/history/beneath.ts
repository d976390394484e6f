import { closeSync, constants, fstatSync, openSync, readlinkSync, read as readWithCallback } from 'node:fs'
import { promisify } from 'node:util'
import { encoding } from './listing.ts'

/**
 * Opens files below a folder without following any link, one folder at a time. A folder that is replaced
 * meanwhile cannot lead outside: each name is looked up in the folder that is already open. The calls are synchronous: each takes
 * microseconds, and every file needs several. Callers that make many of them pause in between.
 */
export type Beneath = {
  /** The opened folder's device. */
  device: bigint
  /** Opens a file for reading. Throws `ELOOP` or `ENOTDIR` for links. The caller closes the descriptor. */
  open(path: string): number
  /** Returns the target of a link, as bytes. */
  target(path: string): Buffer
  /** Opens a folder; the caller closes it. */
  folder(path: string): number
  /** Opens any entry, also a link, only to look at it and to change its attributes. The caller closes it. */
  entry(path: string): number
  /** Returns a path at which an entry can be created, renamed or removed. Valid until the next call. */
  place(path: string): Buffer
  /** Call after folders were replaced: closes cached descriptors. */
  forget(): void
  /** Later calls throw. */
  [Symbol.dispose](): void
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** A pipe in place of a file must not block. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** `O_PATH` of Linux, which Node does not name: opens without any right to the content. */
const entryFlags = 0o10000000 | constants.O_NOFOLLOW

/** Contents may have to come from the disk, so they are not read synchronously. */
export const readDescriptor = promisify(readWithCallback)

type Folder = { name: string; descriptor: number; device: bigint }

export function openBeneath(folder: string): Beneath {
  return beneathOf(openSync(folder, folderFlags))
}

/** Takes over the opened folder. */
export function beneathOf(descriptor: number): Beneath {
  const root = toFolder('', descriptor)
  /** The folders of the last path, kept open for the next one. */
  const kept: Folder[] = []
  let isClosed = false

  function closeFrom(depth: number): void {
    for (const { descriptor } of kept.splice(depth)) closeSync(descriptor)
  }

  function parentOf(path: string): { parent: Folder; name: string } {
    // The descriptor's number may belong to something else by now.
    if (isClosed) throw new Error('The folder is closed.')
    const names = path.split('/')
    const name = names.pop() ?? ''
    const shared = kept.findIndex((each, depth) => each.name !== names[depth])
    closeFrom(shared === -1 ? Math.min(kept.length, names.length) : shared)
    for (const next of names.slice(kept.length))
      kept.push(toFolder(next, openSync(childOf(kept.at(-1) ?? root, next), folderFlags)))
    return { parent: kept.at(-1) ?? root, name }
  }

  function child(path: string): Buffer {
    const { parent, name } = parentOf(path)
    return childOf(parent, name)
  }

  return {
    device: root.device,
    open: (path) => openSync(child(path), fileFlags),
    folder: (path) => openSync(child(path), folderFlags),
    entry: (path) => openSync(child(path), entryFlags),
    target: (path) => readlinkSync(child(path), { encoding: 'buffer' }),
    place(path) {
      const { parent, name } = parentOf(path)
      if (parent.device !== root.device)
        throw Object.assign(new Error('The folder is on another file system.'), { code: 'EXDEV' })
      return childOf(parent, name)
    },
    forget: () => closeFrom(0),
    [Symbol.dispose]() {
      if (isClosed) return
      isClosed = true
      closeFrom(0)
      closeSync(root.descriptor)
    },
  }
}

function toFolder(name: string, descriptor: number): Folder {
  try {
    return { name, descriptor, device: fstatSync(descriptor, { bigint: true }).dev }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function childOf({ descriptor }: Folder, name: string): Buffer {
  if (name === '' || name === '.' || name === '..' || name.includes('\0'))
    throw new Error('The path is not valid.')
  return Buffer.concat([Buffer.from(`/proc/self/fd/${descriptor}/`), Buffer.from(name, encoding)])
}
