import {
  chmodSync,
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'

/** An entry of a tree; names are bytes as characters (latin1). */
export type TreeItem = { kind: 'file' | 'folder' | 'link'; mode: number; content: string }
export type Tree = Map<string, TreeItem>

/** A repeatable sequence of numbers from 0 (inclusive) to 1 (exclusive). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const names = [
  ...['a', 'b', 'c', 'src', 'x y', '.git', '.GIT', '.gitignore', '%', '%.git', '%%', 'config', '.hidden'],
  ...['new\nline', '"quoted"', 'back\\slash', '\xff\xfe', '\xc3\xa4', '-rf', '*', 'git~1', 'tab\t', ' '],
]

/** Changes a folder at random: writes, deletes, renames, modes, links, nested repositories, swaps, sparse files. */
export function changeTree(root: string, random: () => number, steps: number): void {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  for (let step = 0; step < steps; step += 1) {
    const tree = readTree(root)
    const folders = [...tree].filter(([, item]) => item.kind === 'folder').map(([path]) => path)
    const others = [...tree.keys()].filter((path) => path !== '')
    const folder = pick(folders)
    const fresh = folder === '' ? pick(names) : `${folder}/${pick(names)}`
    const action = random()
    try {
      if (action < 0.4) writeFileSync(at(root, fresh), `${Math.floor(random() * 50)}`.repeat(random() * 300))
      else if (action < 0.55) mkdirSync(at(root, fresh))
      else if (action < 0.63) symlinkSync(pick(['/etc', '..', 'missing', '.', '\xff']), at(root, fresh))
      else if (action < 0.66) writeSparse(at(root, fresh))
      else if (others.length === 0) continue
      else if (action < 0.76) rmSync(at(root, pick(others)), { recursive: true })
      else if (action < 0.88) renameSync(at(root, pick(others)), at(root, fresh))
      else if (action < 0.95) changeMode(root, tree, pick(others), pick([0o600, 0o644, 0o755, 0o700, 0o664]))
      else swap(root, pick(others))
    } catch {
      // Not every combination is possible, such as a folder renamed into itself.
    }
  }
}

function changeMode(root: string, tree: Tree, path: string, mode: number): void {
  const kind = tree.get(path)?.kind
  if (kind !== 'link') chmodSync(at(root, path), kind === 'folder' ? mode | 0o700 : mode)
}

/** A file becomes a folder and the reverse. */
function swap(root: string, path: string): void {
  const isFolder = lstatSync(at(root, path)).isDirectory()
  rmSync(at(root, path), { recursive: true })
  if (isFolder) {
    writeFileSync(at(root, path), 'was a folder')
    return
  }
  mkdirSync(at(root, path))
  writeFileSync(at(root, `${path}/inside`), 'was a file')
}

function writeSparse(path: Buffer): void {
  const file = openSync(path, 'w')
  ftruncateSync(file, 300_000)
  writeSync(file, 'data', 200_000)
  closeSync(file)
}

/** Reads everything below a folder; the folder itself has the empty path. */
export function readTree(root: string): Tree {
  const tree: Tree = new Map([['', { kind: 'folder', mode: lstatSync(root).mode & 0o7777, content: '' }]])
  const read = (folder: string) => {
    for (const name of readdirSync(at(root, folder), { encoding: 'latin1' })) {
      const path = folder === '' ? name : `${folder}/${name}`
      const found = lstatSync(at(root, path))
      const kind = found.isDirectory() ? 'folder' : found.isSymbolicLink() ? 'link' : 'file'
      const content =
        kind === 'file'
          ? readFileSync(at(root, path), 'latin1')
          : kind === 'link'
            ? readlinkSync(at(root, path), 'latin1')
            : ''
      tree.set(path, { kind, mode: found.mode & 0o7777, content })
      if (kind === 'folder') read(path)
    }
  }
  read('')
  return tree
}

/** A path below the root as bytes. */
export function at(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])
}
