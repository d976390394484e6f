import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  bundleFile,
  type CredentialFile,
  credentialPathFault,
  mcpTemplateFile,
} from '@roost/contracts/link/credentials'

const mostEntries = 5000
const mostFiles = 500
const deepest = 4
/** What tools put there is not a credential that somebody gave. */
const passedOver = new Set(['node_modules', 'venv', 'site-packages', 'shared-in', 'shared-out'])

/**
 * Files of the workspace that hold credentials, with the bundle and the template of `.mcp.json`. Regular files
 * only, links are not followed; at most four folders deep.
 */
export async function findCredentials(home: string): Promise<CredentialFile[]> {
  const found: CredentialFile[] = []
  let left = mostEntries

  async function note(path: string) {
    const file = await lstat(join(home, path)).catch(() => null)
    if (file?.isFile()) found.push({ path, size: file.size, modified: file.mtime.toISOString() })
  }

  async function walk(folder: string, depth: number): Promise<void> {
    const entries = await readdir(join(home, folder), { withFileTypes: true }).catch((): Dirent[] => [])
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (left === 0 || found.length === mostFiles) return
      left -= 1
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (depth < deepest && !entry.name.startsWith('.') && !passedOver.has(entry.name))
          await walk(path, depth + 1)
      } else if (path === bundleFile || path === mcpTemplateFile || credentialPathFault(path) === null) {
        await note(path)
      }
    }
  }

  // First of all what is always looked for: a crowded workspace must not hide it.
  const first = await lstat(join(home, 'credentials')).catch(() => null)
  if (first?.isDirectory()) await walk('credentials', 1)
  const before = new Set(found.map(({ path }) => path))
  await walk('', 1)
  return found.filter(({ path }, index) => !before.has(path) || index < before.size)
}
