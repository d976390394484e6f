import { createHash } from 'node:crypto'
import { closeSync, fstatSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { maxRestoredDepth, parentOf } from '@roost/contracts/link/history'
import type { RestoreChange, RestoreConflict, RestoreTarget } from '@roost/contracts/link/history-restore'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import { type Beneath, readDescriptor } from './beneath.ts'
import { compareListings } from './compare.ts'
import type { Index } from './index-file.ts'
import { encoding, type Listed, type Listing, parseLine, pathOfLine } from './listing.ts'
import type { Target } from './restore-target.ts'

/**
 * `open` gives the owner the right to change a folder's content. `place` moves the staged item of this number to its
 * path. Each step can be repeated.
 */
export type Step =
  | ({ do: 'open' | 'mode'; path: string; mode: number } & Which)
  | { do: 'remove' | 'remove_folder'; path: string }
  | { do: 'place'; path: string; item: number; folder: boolean }
  | ({ do: 'owner'; path: string; uid: number | null } & Which)

/**
 * Identifies the entry that gets attributes, so that one which another process put there is skipped. With `item`, the
 * inode is known once the item is staged.
 */
export type Which = { inode: string | null; item: number | null }

/** An entry to create. `uid`: another user whose it stays; null for the owner. */
export type Placed = Pick<RestoreTarget, 'path' | 'kind' | 'mode' | 'sparse' | 'content'> & {
  uid: number | null
}

/** One new file or link, or a new folder with its content. */
export type Item = Placed[]

export type Plan = {
  changes: RestoreChange[]
  conflicts: RestoreConflict[]
  items: Item[]
  steps: Step[]
}

export type PlanDeps = {
  target: Target
  listing: Listing
  /** The listing of the record that `known` refers to, if this program has it. */
  index: Index | null
  home: Beneath
  isOwners(uid: number): boolean
  /** User of entries whose owner is unknown. */
  strangerUid: number
}

type Attributes = Which & { path: string; mode: number; uid: number | null; hasOwner: boolean }

type Closed = Which & { mode: number }

/** Longer names cannot be sent to the platform. */
const maxPathLength = 4096

/** Lines that are looked at without a pause: calls of the platform wait meanwhile. */
const linesPerPause = 2000

export async function planRestore(deps: PlanDeps): Promise<Plan> {
  const { target, listing, index, home, isOwners, strangerUid } = deps
  const moved = index && changedPaths(await scopeOf(index.listing, target), listing)
  const changes: RestoreChange[] = []
  const conflicts: RestoreConflict[] = []
  const gone: { path: string; kind: Listed['kind'] }[] = []
  const leftOut = new Set<string>()
  /** Folders that the owner cannot change without another mode, in the order of the listing. */
  const closed = new Map<string, Closed>()
  /** Entries that are as in the record, or need other attributes only. */
  const settled = new Set<string>()
  /** Entries that are replaced by one of the same path. */
  const replaced = new Map<string, { uid: number | null; change: 'changed' | 'attributes' | null }>()
  const above = new Map<string, Listed['kind']>()
  const attributes: Attributes[] = []

  for await (const line of linesOf(listing)) {
    const path = pathOfLine(line)
    // Parsing a line takes much longer than finding its path.
    if (!target.concerns(path)) continue
    const entry = parseLine(line, isOwners)
    if (!entry || isTooDeep(path)) {
      leftOut.add(path)
      continue
    }
    if (path === '') continue
    if (entry.kind === 'folder' && (entry.mode & 0o300) !== 0o300)
      closed.set(path, { mode: entry.mode, inode: String(entry.inode), item: null })
    if (target.isSelected(path)) await look(entry)
    else if (target.entry(path)) above.set(path, entry.kind)
  }

  async function look(entry: Listed): Promise<void> {
    const { path, kind } = entry
    const wanted = target.entry(path)
    if (!wanted) {
      if (!target.isLeftOut(path)) gone.push({ path, kind })
      return
    }
    if (wanted.kind !== kind) {
      if (kind === 'folder' || wanted.kind === 'folder') gone.push({ path, kind })
      else changes.push({ path, kind, change: 'deleted' })
      replaced.set(path, { uid: null, change: null })
      return
    }
    if (kind === 'folder') {
      settled.add(path)
      if (wanted.mode === entry.mode && wanted.owner === entry.owner) return
      changes.push({ path, kind, change: 'attributes' })
      const hasOwner = wanted.owner === entry.owner
      const uid = wanted.owner ? null : strangerUid
      attributes.push({ path, mode: wanted.mode, uid, hasOwner, inode: String(entry.inode), item: null })
      return
    }
    const isSame = await hasContent(entry, wanted)
    const hasMode = kind === 'link' || wanted.mode === entry.mode
    if (isSame && hasMode && wanted.owner === entry.owner) settled.add(path)
    else if (isSame && wanted.owner && entry.owner) {
      settled.add(path)
      changes.push({ path, kind, change: 'attributes' })
      const inode = String(entry.inode)
      attributes.push({ path, mode: wanted.mode, uid: null, hasOwner: true, inode, item: null })
    } else
      replaced.set(path, { uid: entry.owner ? null : entry.uid, change: isSame ? 'attributes' : 'changed' })
  }

  async function hasContent(entry: Listed, wanted: RestoreTarget): Promise<boolean> {
    // Unchanged since the record that `known` refers to.
    if (moved && !moved.has(entry.path)) return wanted.known
    try {
      const { path } = entry
      const content = entry.kind === 'link' ? linkDigest(home, path) : await fileDigest(home, path)
      return content === wanted.content
    } catch {
      return false
    }
  }

  // What is left out keeps the folders around it.
  const kept = new Set<string>()
  for (const path of leftOut) {
    for (let each = parentOf(path); each !== ''; each = parentOf(each)) kept.add(each)
  }
  const removals = gone.filter(({ path, kind }) => kind !== 'folder' || !kept.has(path))
  const goneFolders = new Set(gone.filter(({ kind }) => kind === 'folder').map(({ path }) => path))
  for (const path of leftOut)
    if (goneFolders.has(parentOf(path)) && target.isSelected(path) && path.length <= maxPathLength)
      conflicts.push({ path, reason: 'left_out' })
  for (const { path, kind } of removals) changes.push({ path, kind, change: 'deleted' })

  const items: Item[] = []
  const itemOf = new Map<string, Item>()
  const blocked = new Set<string>()
  for await (const path of inPieces(target.paths())) {
    if (settled.has(path) || above.get(path) === 'folder' || !target.concerns(path)) continue
    const wanted = target.entry(path)
    if (!wanted) continue
    if (blocked.has(parentOf(path))) {
      blocked.add(path)
      continue
    }
    const isInTheWay = leftOut.has(path) || (goneFolders.has(path) && kept.has(path))
    if (isInTheWay || above.has(path)) {
      blocked.add(path)
      conflicts.push({ path, reason: isInTheWay ? 'left_out' : 'occupied' })
      continue
    }
    const before = replaced.get(path)
    const { kind, mode, sparse, content, owner } = wanted
    const placed = { path, kind, mode, sparse, content, uid: owner ? null : (before?.uid ?? strangerUid) }
    changes.push({ path, kind, change: before?.change ?? 'added' })
    const around = itemOf.get(parentOf(path))
    const item = around ?? []
    if (!around) items.push(item)
    item.push(placed)
    if (kind === 'folder') itemOf.set(path, item)
  }

  const steps = stepsOf({ removals, items, attributes, closed })
  changes.sort((a, b) => (a.path < b.path ? -1 : 1))
  return { changes, conflicts, items, steps }
}

function stepsOf(plan: {
  removals: { path: string; kind: Listed['kind'] }[]
  items: Item[]
  attributes: Attributes[]
  closed: ReadonlyMap<string, Closed>
}): Step[] {
  const { removals, items, attributes, closed } = plan
  const roots = items.flatMap(([root], item) => (root ? [{ ...root, item }] : []))
  const entered = new Set([...removals, ...roots].map(({ path }) => parentOf(path)))
  const opened = [...closed].filter(([path]) => entered.has(path))
  const modes = new Map(opened)
  const last: Step[] = []
  for (const each of attributes) {
    modes.delete(each.path)
    last.push(...attributeSteps(each))
  }
  for (const { path, kind, mode, uid, item } of roots)
    if (kind === 'folder' && isFinishedLater({ mode, uid }))
      last.push(...attributeSteps({ path, mode, uid, hasOwner: uid === null, inode: null, item }))
  for (const [path, each] of modes) last.push({ do: 'mode', path, ...each })
  // A folder that is closed at the end must not be entered again.
  last.reverse()
  last.sort((a, b) => depthOf(b.path) - depthOf(a.path))
  return [
    ...opened.map(([path, each]): Step => ({ do: 'open', path, ...each, mode: each.mode | 0o700 })),
    // Content before its folder.
    ...removals
      .map(({ path, kind }): Step => ({ do: kind === 'folder' ? 'remove_folder' : 'remove', path }))
      .reverse(),
    ...roots.map(({ path, item, kind }): Step => ({ do: 'place', path, item, folder: kind === 'folder' })),
    ...last,
  ]
}

/** Linux moves a folder only if its content may be changed. */
export function isFinishedLater({ mode, uid }: Pick<Placed, 'mode' | 'uid'>): boolean {
  return uid !== null || (mode & 0o200) === 0
}

/** Only a folder's owner may change its mode, so the order depends on who that is in the end. */
function attributeSteps({ path, mode, uid, hasOwner, inode, item }: Attributes): Step[] {
  const which = { inode, item }
  const owner: Step[] = hasOwner ? [] : [{ do: 'owner', path, uid, ...which }]
  const setMode: Step = { do: 'mode', path, mode, ...which }
  // In the reverse order of their execution.
  return uid === null ? [setMode, ...owner] : [...owner, setMode]
}

function isTooDeep(path: string): boolean {
  return path.length > maxPathLength || (path.length > maxRestoredDepth && depthOf(path) > maxRestoredDepth)
}

const depthOf = (path: string) => path.split('/').length

/** Paths whose lines differ, including those that were or are left out. */
export function changedPaths(before: Listing, after: Listing): Set<string> {
  const { gone, came } = compareListings(before, after)
  const paths = gone.map(pathOfLine)
  for (const { line } of came) paths.push(pathOfLine(line))
  return new Set(paths)
}

/** The lines of the record's listing that are comparable, because the workspace was listed only for the target. */
async function scopeOf(listing: Listing, { scope, concerns }: Target): Promise<Listing> {
  if (!scope) return listing
  const parts: Buffer[] = []
  for await (const line of linesOf(listing))
    if (concerns(pathOfLine(line))) parts.push(Buffer.from(`${line}\0`, encoding))
  return Buffer.concat(parts)
}

async function* linesOf(listing: Listing): AsyncGenerator<string> {
  let count = 0
  for (let at = 0; at < listing.length; ) {
    const end = listing.indexOf(0, at)
    yield listing.toString(encoding, at, end)
    at = end + 1
    count += 1
    if (count % linesPerPause === 0) await setImmediate()
  }
}

async function* inPieces(paths: Iterable<string>): AsyncGenerator<string> {
  let count = 0
  for (const path of paths) {
    yield path
    count += 1
    if (count % linesPerPause === 0) await setImmediate()
  }
}

function linkDigest(home: Beneath, path: string): string {
  const bytes = home.target(path)
  return createHash('sha256').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

/** Digest in the form of git's objects. */
async function fileDigest(home: Beneath, path: string): Promise<string | null> {
  const file = home.open(path)
  try {
    const found = fstatSync(file, { bigint: true })
    if (!found.isFile() || found.dev !== home.device) return null
    const hash = createHash('sha256').update(`blob ${found.size}\0`)
    // One byte more than the file has, so that its end is seen.
    const buffer = Buffer.allocUnsafe(Math.min(fileChunkBytes, Number(found.size) + 1))
    for (let offset = 0; ; ) {
      const { bytesRead } = await readDescriptor(file, buffer, 0, buffer.length, offset)
      if (bytesRead === 0) return BigInt(offset) === found.size ? hash.digest('hex') : null
      hash.update(buffer.subarray(0, bytesRead))
      offset += bytesRead
    }
  } finally {
    closeSync(file)
  }
}
