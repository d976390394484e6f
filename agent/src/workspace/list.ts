import { type FileHandle, lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isClosed } from '@roost/contracts/link/credentials'
import type { FileList, FileListAnswer, FileNode } from '@roost/contracts/link/files'
import { inFolder, openChild, openFolder } from './open-folder.ts'
import { asFault, type Paths } from './paths.ts'
import { refuseReading } from './protected.ts'

const maxEntries = 5000
const maxDepth = 10

/**
 * Lists the tree below a folder, folders first, with at most `limit` entries and `depth` levels. Does not
 * follow links and omits the platform's files.
 */
export async function listFiles(paths: Paths, request: Omit<FileList, 't'>): Promise<FileListAnswer> {
  const root = await paths.existing(request.path)
  refuseReading(paths, root, request)
  const limit = Math.min(Math.max(1, request.limit), maxEntries)
  let left = limit
  let isTruncated = false
  let files = 0

  async function entriesOf(folder: FileHandle, real: string) {
    const found = await readdir(inFolder(folder), { withFileTypes: true })
    return found
      .filter(({ name }) => request.show_hidden || !name.startsWith('.'))
      .filter(({ name }) => !isClosed(relative(paths.home, join(real, name))))
      .sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1))
  }

  async function walk(folder: FileHandle, real: string, shown: string, depth: number): Promise<FileNode[]> {
    const nodes: FileNode[] = []
    for (const entry of await entriesOf(folder, real)) {
      if (left === 0) {
        isTruncated = true
        break
      }
      left -= 1
      const path = inFolder(folder, entry.name)
      const node = await describe(path, `${shown}/${entry.name}`, entry.name)
      if (!node) continue
      nodes.push(node)
      if (node.type === 'file') files += 1
      else await lookInto(node, { path, real: join(real, entry.name) }, depth - 1)
    }
    return nodes
  }

  async function lookInto(node: FileNode, { path, real }: Found, depth: number): Promise<void> {
    await using folder = await openChild(path).catch(() => null)
    if (depth === 0) {
      node.file_count = folder
        ? await entriesOf(folder, real).then(
            ({ length }) => length,
            () => 0,
          )
        : 0
      return
    }
    node.children = folder ? await walk(folder, real, node.path, depth).catch(() => []) : []
    node.file_count = node.children.length
  }

  try {
    const shown = request.path.replace(/(.)\/+$/, '$1')
    await using folder = await openFolder(paths.home, root)
    const tree = await walk(folder, root, shown, Math.min(Math.max(1, request.depth), maxDepth))
    return { tree, total_files: files, truncated: isTruncated }
  } catch (error) {
    throw asFault(error, request.path)
  }
}

/** `path` leads through an opened folder. */
type Found = { path: string; real: string }

/** Returns null when the entry was deleted meanwhile. */
async function describe(path: string, shown: string, name: string): Promise<FileNode | null> {
  const found = await lstat(path).catch(() => null)
  if (!found) return null
  const modified = found.mtime.toISOString()
  if (found.isDirectory()) return { name, path: shown, type: 'directory', modified }
  return { name, path: shown, type: 'file', size: found.size, modified }
}
