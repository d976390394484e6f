import { constants, open as openWithCallback } from 'node:fs'
import { type FileHandle, open, readlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import { encoding } from './listing.ts'

/**
 * Opens files below a folder without following any link, one folder at a time. Nothing that is replaced meanwhile
 * leads outside: each name is looked up in the folder that is already open. Calls are answered one after another.
 */
export type Beneath = {
  /** The opened folder's device. */
  device: bigint
  /** Opens a file for reading. Rejects with `ELOOP` or `ENOTDIR` for links. */
  open(path: string): Promise<FileHandle>
  /** Like `open`, but takes a third of the time. The caller closes the descriptor. */
  descriptor(path: string): Promise<number>
  /** Returns the target of a link, as bytes. */
  target(path: string): Promise<Buffer>
  /** Opens a folder; the caller closes it. */
  folder(path: string): Promise<FileHandle>
  /** Opens any entry, also a link, only to look at it and to change its attributes. */
  entry(path: string): Promise<FileHandle>
  /** Where an entry can be created, renamed or removed, until the next call. */
  place(path: string): Promise<Buffer>
  /** Folders were replaced: looks up every name again. */
  forget(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** A pipe in place of a file must not block. */
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** `O_PATH` of Linux, which Node does not name: opens without any right to the content. */
const entryFlags = 0o10000000 | constants.O_NOFOLLOW

const openDescriptor = promisify(openWithCallback)

export async function openBeneath(folder: string): Promise<Beneath> {
  return beneathOf(await open(folder, folderFlags))
}

/** Takes over the opened folder. */
export async function beneathOf(root: FileHandle): Promise<Beneath> {
  const { dev } = await root.stat({ bigint: true })
  /** The folders of the last path, kept open for the next one. */
  let kept: { name: string; handle: FileHandle }[] = []
  let turn: Promise<unknown> = Promise.resolve()

  /** Another call may close the folders that were opened for this one. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  async function closeFrom(depth: number): Promise<void> {
    const rest = kept.slice(depth)
    kept = kept.slice(0, depth)
    await Promise.all(rest.map(({ handle }) => handle.close()))
  }

  async function parentOf(path: string): Promise<{ parent: FileHandle; name: string }> {
    const names = path.split('/')
    const name = names.pop() ?? ''
    const shared = kept.findIndex((each, depth) => each.name !== names[depth])
    await closeFrom(shared === -1 ? Math.min(kept.length, names.length) : shared)
    for (const next of names.slice(kept.length)) {
      const handle = await open(childOf(kept.at(-1)?.handle ?? root, next), folderFlags)
      kept.push({ name: next, handle })
    }
    return { parent: kept.at(-1)?.handle ?? root, name }
  }

  const inParent = <T>(path: string, work: (child: Buffer) => Promise<T>) =>
    inTurn(async () => {
      const { parent, name } = await parentOf(path)
      return work(childOf(parent, name))
    })
  const opened = (path: string, flags: number) => inParent(path, (child) => open(child, flags))

  return {
    device: dev,
    open: (path) => opened(path, fileFlags),
    folder: (path) => opened(path, folderFlags),
    entry: (path) => opened(path, entryFlags),
    descriptor: (path) => inParent(path, (child) => openDescriptor(child, fileFlags)),
    target: (path) => inParent(path, (child) => readlink(child, { encoding: 'buffer' })),
    place: (path) =>
      inTurn(async () => {
        const { parent, name } = await parentOf(path)
        if ((await parent.stat({ bigint: true })).dev !== dev)
          throw Object.assign(new Error('The folder is on another file system.'), { code: 'EXDEV' })
        return childOf(parent, name)
      }),
    forget: () => inTurn(() => closeFrom(0)),
    [Symbol.asyncDispose]: () =>
      inTurn(async () => {
        await closeFrom(0)
        await root.close()
      }),
  }
}

function childOf(parent: FileHandle, name: string): Buffer {
  if (name === '' || name === '.' || name === '..' || name.includes('\0'))
    throw new Error('The path is not valid.')
  return Buffer.concat([Buffer.from(`/proc/self/fd/${parent.fd}/`), Buffer.from(name, encoding)])
}
