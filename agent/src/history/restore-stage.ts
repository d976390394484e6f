import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import {
  chmod,
  chown,
  type FileHandle,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import { LinkFault } from '../link/link.ts'
import { type Identities, programId } from '../processes/identity.ts'
import { type Beneath, beneathOf } from './beneath.ts'
import { encoding, stagePrefix } from './listing.ts'
import { type Item, isFinishedLater, type Placed } from './restore-plan.ts'

/**
 * New files of a restore, until they are moved to their places. The folder is part of the workspace's volume, because
 * nothing can be renamed between volumes. It belongs to this program, so runs can neither read nor change it.
 */
export type Stage = {
  inode: bigint
  beneath: Beneath
  /** Adds a piece to a content. */
  write(content: string, offset: number, bytes: Buffer, last: boolean): Promise<void>
  isComplete(content: string): boolean
  /** Creates the items from the contents, with everything but the attributes that come last. Returns their inodes. */
  arrange(items: readonly Item[]): Promise<string[]>
  close(): Promise<void>
}

export type StageDeps = { home: Beneath; identities: Identities }

/** Runs may write here, and nothing here is recorded or exported. */
const usualParent = '.roost'
const blockBytes = 4096
const zeros = Buffer.alloc(blockBytes)
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

export const stagedItem = (item: number) => `items/${item}`

/** Where the next stage can be created. */
export async function newStagePath(home: Beneath): Promise<string> {
  await mkdir(await home.place(usualParent), 0o775).catch(unless('EEXIST'))
  try {
    await (await home.folder(usualParent)).close()
    return `${usualParent}/restore-${randomUUID()}`
  } catch (error) {
    // A run has replaced it.
    unless('ENOTDIR', 'ELOOP')(error as NodeJS.ErrnoException)
    return `${stagePrefix}${randomUUID()}`
  }
}

/** `sparse`: contents that are stored with holes. */
export async function createStage(
  { home, identities }: StageDeps,
  path: string,
  sparse: ReadonlySet<string>,
): Promise<Stage> {
  await mkdir(await home.place(path), 0o700)
  const root = await home.folder(path)
  const beneath = await beneathOf(root)
  let contents: FileHandle
  try {
    contents = await prepareStage(root, beneath)
  } catch (error) {
    await beneath[Symbol.asyncDispose]()
    throw error
  }
  const { ino } = await root.stat({ bigint: true })
  const contentPath = (content: string) => `/proc/self/fd/${contents.fd}/${content}`
  const { developer } = identities
  const isOther = process.geteuid?.() !== developer.uid
  const complete = new Set<string>()
  let writing: { content: string; file: FileHandle; size: number } | null = null

  async function create({ kind, content, mode, uid, sparse }: Placed, path: string, isLastUse: boolean) {
    if (kind === 'folder') return mkdir(await beneath.place(path), 0o700)
    if (kind === 'link') {
      const goal = await readFile(contentPath(content))
      await symlink(goal, await beneath.place(path))
      return give(await beneath.place(path), uid)
    }
    const place = await beneath.place(path)
    if (isLastUse) await rename(contentPath(content), place)
    else {
      await using from = await open(contentPath(content), constants.O_RDONLY | constants.O_NOFOLLOW)
      await using to = await open(place, newFile, 0o600)
      await copyContent(from, to, sparse)
    }
    // Another user's file loses its special bits.
    if (uid === null) await give(place, uid)
    await chmod(place, mode)
    if (uid !== null) await give(place, uid)
  }

  async function give(path: Buffer, uid: number | null): Promise<void> {
    if (uid === null && !isOther) return
    const [owner, group] = uid === null ? [developer.uid, developer.gid] : [uid, -1]
    await lchown(path, owner, group).catch(unless('EPERM', 'EINVAL'))
  }

  return {
    inode: ino,
    beneath,
    async write(content, offset, bytes, last) {
      if (offset === 0 && !writing && !complete.has(content)) {
        const file = await open(contentPath(content), newFile, 0o600)
        writing = { content, file, size: 0 }
      }
      if (writing?.content !== content || writing.size !== offset)
        throw new LinkFault('invalid_message', 'The piece does not continue its content.')
      await writeAt(writing.file, offset, bytes, sparse.has(content))
      writing.size += bytes.length
      if (!last) return
      const { file, size } = writing
      await file.truncate(size)
      writing = null
      await file.close()
      complete.add(content)
    },
    isComplete: (content) => complete.has(content),
    async arrange(items) {
      const uses = new Map<string, number>()
      for (const item of items)
        for (const { content } of item) uses.set(content, (uses.get(content) ?? 0) + 1)
      const inodes: string[] = []
      for (const [index, item] of items.entries()) {
        const start = item[0]?.path.length ?? 0
        const at = (path: string) => `${stagedItem(index)}${path.slice(start)}`
        for (const placed of item) {
          const left = (uses.get(placed.content) ?? 1) - 1
          uses.set(placed.content, left)
          await create(placed, at(placed.path), left === 0)
        }
        // Content before its folder.
        for (const placed of item.toReversed()) {
          if (placed.kind !== 'folder') continue
          const { path, mode, uid } = placed
          const isLater = path.length === start && isFinishedLater(placed)
          const place = await beneath.place(at(path))
          if (uid === null) await give(place, uid)
          await chmod(place, isLater ? mode | 0o700 : mode)
          if (uid !== null && !isLater) await give(place, uid)
        }
        inodes.push(String((await lstat(await beneath.place(stagedItem(index)), { bigint: true })).ino))
      }
      return inodes
    },
    async close() {
      await writing?.file.close()
      await contents.close()
      await beneath[Symbol.asyncDispose]()
    },
  }
}

/** Closes the folder to everybody else, and returns the one for contents. */
async function prepareStage(root: FileHandle, beneath: Beneath): Promise<FileHandle> {
  await root.chmod(0o770)
  // An unprivileged sandbox has one user only.
  await root.chown(programId, programId).catch(unless('EPERM', 'EINVAL'))
  // Only now nobody else can enter it.
  const names = await readdir(`/proc/self/fd/${root.fd}`)
  if (names.length > 0)
    throw new LinkFault('io_error', 'The folder for new files was used by another process.')
  for (const name of ['contents', 'items']) await mkdir(await beneath.place(name), 0o700)
  return beneath.folder('contents')
}

export type FoundStage = AsyncDisposable & { path: string; beneath: Beneath }

/** Opens the folder of this inode at one of the paths; null if it is nowhere. */
export async function openStage(
  home: Beneath,
  paths: readonly string[],
  inode: bigint,
): Promise<FoundStage | null> {
  for (const path of paths) {
    const root = await home.folder(path).catch(() => null)
    if (!root) continue
    const found = await root.stat({ bigint: true })
    if (found.ino === inode && found.dev === home.device) {
      const beneath = await beneathOf(root)
      return { path, beneath, [Symbol.asyncDispose]: () => beneath[Symbol.asyncDispose]() }
    }
    await root.close()
  }
  return null
}

/**
 * Deletes a stage with everything in it, whatever its modes and owners are. Anything else in its place stays, unless it
 * is an empty folder.
 */
export async function removeStage(home: Beneath, path: string): Promise<void> {
  try {
    const root = await home.folder(path)
    const beneath = await beneathOf(root)
    try {
      const names = isStage(await root.stat()) ? await readdir(`/proc/self/fd/${root.fd}`, { encoding }) : []
      for (const name of names) await removeTree(beneath, name)
    } finally {
      await beneath[Symbol.asyncDispose]()
    }
    await rmdir(await home.place(path))
  } catch (error) {
    unless('ENOENT', 'ENOTDIR', 'ELOOP', 'ENOTEMPTY')(error as NodeJS.ErrnoException)
  }
}

/** Without another user, this program is the owner of its folder. */
function isStage({ uid }: Stats): boolean {
  return uid === programId || (process.getuid?.() === process.geteuid?.() && uid === process.geteuid?.())
}

async function removeTree(beneath: Beneath, path: string): Promise<void> {
  let isFolder: boolean
  {
    await using entry = await beneath.entry(path)
    const found = await entry.stat()
    isFolder = found.isDirectory()
    if (isFolder) {
      const own = process.geteuid?.() ?? found.uid
      if (found.uid !== own)
        await chown(`/proc/self/fd/${entry.fd}`, own, -1).catch(unless('EPERM', 'EINVAL'))
      await chmod(`/proc/self/fd/${entry.fd}`, 0o700).catch(unless('EPERM'))
    }
  }
  if (!isFolder) return unlink(await beneath.place(path))
  for (const name of await readdir(await beneath.place(path), { encoding }))
    await removeTree(beneath, `${path}/${name}`)
  await beneath.forget()
  await rmdir(await beneath.place(path))
}

async function copyContent(from: FileHandle, to: FileHandle, isSparse: boolean): Promise<void> {
  const buffer = Buffer.allocUnsafe(fileChunkBytes)
  let offset = 0
  for (;;) {
    const { bytesRead } = await from.read(buffer, 0, buffer.length, offset)
    if (bytesRead === 0) break
    await writeAt(to, offset, buffer.subarray(0, bytesRead), isSparse)
    offset += bytesRead
  }
  await to.truncate(offset)
}

/** With `isSparse`, blocks of zeros become holes; the file gets its length at the end. */
async function writeAt(file: FileHandle, offset: number, bytes: Buffer, isSparse: boolean): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    let end = isSparse ? at : bytes.length
    while (end < bytes.length && !isZero(bytes, end)) end += blockBytes
    end = Math.min(end, bytes.length)
    while (at < end) at += (await file.write(bytes, at, end - at, offset + at)).bytesWritten
    while (isSparse && at < bytes.length && isZero(bytes, at)) at += blockBytes
  }
}

function isZero(bytes: Buffer, at: number): boolean {
  const end = Math.min(at + blockBytes, bytes.length)
  return bytes.compare(zeros, 0, end - at, at, end) === 0
}

export function unless(...codes: string[]) {
  return (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
