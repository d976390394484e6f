import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'

const leftOut = new Set(['node_modules', '.git', '.roost', 'data', 'dist', 'artifacts'])

/**
 * The test files of the repository as paths relative to it, sorted. Each filter is a file, a folder (seen from
 * `cwd` or from the repository), or a part of a path; without filters all of them.
 */
export function findTestFiles(root: string, filters: string[], cwd: string): string[] {
  const all = list(root).map((path) => relative(root, path))
  if (filters.length === 0) return all.sort()
  const accepts = filters.map((filter) => {
    const place = [resolve(cwd, filter), resolve(root, filter)].find((path) => existsSync(path))
    if (!place) return (path: string) => path.includes(filter)
    const inside = relative(root, place)
    const isFolder = statSync(place).isDirectory()
    return (path: string) => path === inside || (isFolder && (inside === '' || path.startsWith(inside + sep)))
  })
  return all.filter((path) => accepts.some((accept) => accept(path))).sort()
}

const longFolders = [`checks${sep}acceptance${sep}`, `checks${sep}browser${sep}`]

/**
 * The order to run the files in. A few are at work at the same time: those that drive a browser keep a processor
 * busy all the time, those that go through the platform from outside wait for most of theirs. Side by side they
 * fill each other's pauses; what remains for the end is short.
 */
export function runOrder(files: string[]): string[] {
  const isLong = (path: string) => longFolders.some((folder) => path.startsWith(folder))
  const spread = longFolders
    .map((folder) => files.filter((path) => path.startsWith(folder)))
    .flatMap((group) => group.map((path, place) => ({ path, at: (place + 0.5) / group.length })))
    .sort((a, b) => a.at - b.at)
  return [...spread.map(({ path }) => path), ...files.filter((path) => !isLong(path))]
}

function list(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return leftOut.has(entry.name) ? [] : list(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
}
