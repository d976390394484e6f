import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  write as writeWithCallback,
} from 'node:fs'
import { stagePrefix } from '@roost/contracts/link/history'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import { createPauses } from '../kit/pauses.ts'
import { LinkFault } from '../link/link.ts'
import { type Identities, programId } from '../processes/identity.ts'
import { type Beneath, beneathOf, readDescriptor } from './beneath.ts'
import { encoding } from './listing.ts'
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
  close(): void
}

export type StageDeps = { home: Beneath; identities: Identities; clock: Pick<Clock, 'elapsed'> }

/** Runs may write here, and nothing here is recorded or exported. */
const usualParent = '.roost'
const blockBytes = 4096
const zeros = Buffer.alloc(blockBytes)
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

export const stagedItem = (item: number) => `items/${item}`

/** Where the next stage can be created. */
export function newStagePath(home: Beneath): string {
  ignoring(['EEXIST'], () => mkdirSync(home.place(usualParent), 0o775))
  try {
    closeSync(home.folder(usualParent))
    return `${usualParent}/restore-${randomUUID()}`
  } catch (error) {
    // A run has replaced it.
    if (!hasCode(error, ['ENOTDIR', 'ELOOP'])) throw error
    return `${stagePrefix}${randomUUID()}`
  }
}

/** `sparse`: contents that are stored with holes. */
export function createStage(
  { home, identities, clock }: StageDeps,
  path: string,
  sparse: ReadonlySet<string>,
): Stage {
  mkdirSync(home.place(path), 0o700)
  const root = home.folder(path)
  const beneath = beneathOf(root)
  let contents: number
  try {
    contents = prepareStage(root, beneath)
  } catch (error) {
    beneath[Symbol.dispose]()
    throw error
  }
  const { ino } = fstatSync(root, { bigint: true })
  const contentPath = (content: string) => `/proc/self/fd/${contents}/${content}`
  const { developer } = identities
  const isOther = process.geteuid?.() !== developer.uid
  const complete = new Set<string>()
  let writing: { content: string; file: number; size: number } | null = null

  async function create({ kind, content, mode, uid, sparse }: Placed, path: string, isLastUse: boolean) {
    if (kind === 'folder') {
      mkdirSync(beneath.place(path), 0o700)
      return
    }
    if (kind === 'link') symlinkSync(readFileSync(contentPath(content)), beneath.place(path))
    else if (isLastUse) renameSync(contentPath(content), beneath.place(path))
    else await copyContent(contentPath(content), beneath.place(path), sparse)
    const place = beneath.place(path)
    if (kind === 'link') {
      give(place, uid)
      return
    }
    // Another user's file loses its special bits.
    if (uid === null) give(place, uid)
    chmodSync(place, mode)
    if (uid !== null) give(place, uid)
  }

  function give(path: Buffer, uid: number | null): void {
    if (uid === null && !isOther) return
    const [owner, group] = uid === null ? [developer.uid, developer.gid] : [uid, -1]
    ignoring(['EPERM', 'EINVAL'], () => lchownSync(path, owner, group))
  }

  return {
    inode: ino,
    beneath,
    async write(content, offset, bytes, last) {
      if (offset === 0 && !writing && !complete.has(content))
        writing = { content, file: openSync(contentPath(content), newFile, 0o600), size: 0 }
      if (writing?.content !== content || writing.size !== offset)
        throw new LinkFault('invalid_message', 'The piece does not continue its content.')
      await writeAt(writing.file, offset, bytes, sparse.has(content))
      writing.size += bytes.length
      if (!last) return
      const { file, size } = writing
      if (sparse.has(content)) ftruncateSync(file, size)
      writing = null
      closeSync(file)
      complete.add(content)
    },
    isComplete: (content) => complete.has(content),
    async arrange(items) {
      const uses = new Map<string, number>()
      for (const item of items)
        for (const { content } of item) uses.set(content, (uses.get(content) ?? 0) + 1)
      const inodes: string[] = []
      const pause = createPauses(clock)
      for (const [index, item] of items.entries()) {
        const start = item[0]?.path.length ?? 0
        const at = (path: string) => `${stagedItem(index)}${path.slice(start)}`
        for (const placed of item) {
          const left = (uses.get(placed.content) ?? 1) - 1
          uses.set(placed.content, left)
          await pause()
          await create(placed, at(placed.path), left === 0)
        }
        // Content before its folder.
        for (const placed of item.toReversed()) {
          if (placed.kind !== 'folder') continue
          await pause()
          const { path, mode, uid } = placed
          const isLater = path.length === start && isFinishedLater(placed)
          const place = beneath.place(at(path))
          if (uid === null) give(place, uid)
          chmodSync(place, isLater ? mode | 0o700 : mode)
          if (uid !== null && !isLater) give(place, uid)
        }
        inodes.push(String(lstatSync(beneath.place(stagedItem(index)), { bigint: true }).ino))
      }
      return inodes
    },
    close() {
      if (writing) closeSync(writing.file)
      closeSync(contents)
      beneath[Symbol.dispose]()
    },
  }
}

/** Closes the folder to everybody else, and returns the one for contents. */
function prepareStage(root: number, beneath: Beneath): number {
  const opened = `/proc/self/fd/${root}`
  chmodSync(opened, 0o770)
  // An unprivileged sandbox has one user only.
  ignoring(['EPERM', 'EINVAL'], () => chownSync(opened, programId, programId))
  // Only now nobody else can enter it.
  if (readdirSync(opened).length > 0)
    throw new LinkFault('io_error', 'The folder for new files was used by another process.')
  for (const name of ['contents', 'items']) mkdirSync(beneath.place(name), 0o700)
  return beneath.folder('contents')
}

export type FoundStage = Disposable & { path: string; beneath: Beneath }

/** Opens the folder of this inode at one of the paths; null if it is nowhere. */
export function openStage(home: Beneath, paths: readonly string[], inode: bigint): FoundStage | null {
  for (const path of paths) {
    const root = openIfThere(home, path)
    if (root === null) continue
    const found = fstatSync(root, { bigint: true })
    if (found.ino === inode && found.dev === home.device) {
      const beneath = beneathOf(root)
      return { path, beneath, [Symbol.dispose]: () => beneath[Symbol.dispose]() }
    }
    closeSync(root)
  }
  return null
}

function openIfThere(home: Beneath, path: string): number | null {
  try {
    return home.folder(path)
  } catch {
    return null
  }
}

/**
 * Deletes a stage with everything in it, whatever its modes and owners are. Anything else in its place stays, unless it
 * is an empty folder.
 */
export async function removeStage(home: Beneath, path: string, clock: Pick<Clock, 'elapsed'>): Promise<void> {
  try {
    const root = home.folder(path)
    using beneath = beneathOf(root)
    const names = isStage(fstatSync(root)) ? readdirSync(`/proc/self/fd/${root}`, { encoding }) : []
    const pause = createPauses(clock)
    for (const name of names) await removeTree(beneath, name, pause)
    rmdirSync(home.place(path))
  } catch (error) {
    if (!hasCode(error, ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENOTEMPTY'])) throw error
  }
}

/** Without another user, this program is the owner of its folder. */
function isStage({ uid }: Stats): boolean {
  return uid === programId || (process.getuid?.() === process.geteuid?.() && uid === process.geteuid?.())
}

async function removeTree(beneath: Beneath, path: string, pause: () => Promise<void>): Promise<void> {
  await pause()
  if (!openUpFolder(beneath, path)) return unlinkSync(beneath.place(path))
  const names = readdirSync(beneath.place(path), { encoding })
  for (const name of names) await removeTree(beneath, `${path}/${name}`, pause)
  beneath.forget()
  rmdirSync(beneath.place(path))
}

/** Gives this program every right to a folder. Returns false if the entry is not a folder. */
function openUpFolder(beneath: Beneath, path: string): boolean {
  const entry = beneath.entry(path)
  try {
    const found = fstatSync(entry)
    if (!found.isDirectory()) return false
    const opened = `/proc/self/fd/${entry}`
    const own = process.geteuid?.() ?? found.uid
    if (found.uid !== own) ignoring(['EPERM', 'EINVAL'], () => chownSync(opened, own, -1))
    ignoring(['EPERM'], () => chmodSync(opened, 0o700))
    return true
  } finally {
    closeSync(entry)
  }
}

async function copyContent(source: string, place: Buffer, isSparse: boolean): Promise<void> {
  const from = openSync(source, constants.O_RDONLY | constants.O_NOFOLLOW)
  let to: number | null = null
  try {
    to = openSync(place, newFile, 0o600)
    const buffer = Buffer.allocUnsafe(fileChunkBytes)
    let offset = 0
    for (;;) {
      const { bytesRead } = await readDescriptor(from, buffer, 0, buffer.length, offset)
      if (bytesRead === 0) break
      await writeAt(to, offset, buffer.subarray(0, bytesRead), isSparse)
      offset += bytesRead
    }
    ftruncateSync(to, offset)
  } finally {
    closeSync(from)
    if (to !== null) closeSync(to)
  }
}

/** With `isSparse`, blocks of zeros become holes; the file gets its length at the end. */
async function writeAt(file: number, offset: number, bytes: Buffer, isSparse: boolean): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    let end = isSparse ? at : bytes.length
    while (end < bytes.length && !isZero(bytes, end)) end += blockBytes
    end = Math.min(end, bytes.length)
    while (at < end) at += await writeDescriptor(file, bytes.subarray(at, end), offset + at)
    while (isSparse && at < bytes.length && isZero(bytes, at)) at += blockBytes
  }
}

/** A full disk or a slow one may block a write for long, so it is not synchronous. */
function writeDescriptor(file: number, bytes: Buffer, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    writeWithCallback(file, bytes, 0, bytes.length, offset, (error, written) =>
      error ? reject(error) : resolve(written),
    )
  })
}

function isZero(bytes: Buffer, at: number): boolean {
  const end = Math.min(at + blockBytes, bytes.length)
  return bytes.compare(zeros, 0, end - at, at, end) === 0
}

function ignoring(codes: readonly string[], act: () => void): void {
  try {
    act()
  } catch (error) {
    if (!hasCode(error, codes)) throw error
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '')
}
