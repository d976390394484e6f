import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'

const ignoredFolders = new Set(['node_modules', '.git', '.roost', 'data', 'dist', 'artifacts'])

/**
 * Returns the test files as sorted paths relative to `root`. Each filter is a file, a folder (relative to `cwd` or
 * to `root`) or a part of a path. Without filters it returns all files.
 */
export function findTestFiles(root: string, filters: string[], cwd: string): string[] {
  const all = list(root).map((path) => relative(root, path))
  if (filters.length === 0) return all.sort()
  const accepts = filters.map((filter) => {
    const target = [resolve(cwd, filter), resolve(root, filter)].find((path) => existsSync(path))
    if (!target) return (path: string) => path.includes(filter)
    const inside = relative(root, target)
    const isFolder = statSync(target).isDirectory()
    return (path: string) => path === inside || (isFolder && (inside === '' || path.startsWith(inside + sep)))
  })
  return all.filter((path) => accepts.some((accept) => accept(path))).sort()
}

/** Tests on a Kubernetes cluster, which only `roost test --cluster` runs. */
export const clusterTests = 'checks/cluster'

export function isClusterTest(path: string): boolean {
  return path.startsWith(`${clusterTests}/`)
}

/** A test that uses all processors for minutes, so that others beside it would run into their limits. */
export function runsAlone(path: string): boolean {
  return path === `${clusterTests}/fleet.test.ts`
}

/**
 * Tests that precede a release, which `roost test` leaves out unless they are named. They build the images and start
 * earlier versions, which takes a tenth of the time of all tests.
 */
export function isReleaseTest(path: string): boolean {
  return path.startsWith('checks/upgrades/') || /^checks\/compose\/(compose|scale)\.test\.ts$/.test(path)
}

function list(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ignoredFolders.has(entry.name) ? [] : list(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
}
