import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  bundleFile,
  type CredentialFile,
  credentialPathFault,
  mcpTemplateFile,
} from '@roost/contracts/link/credentials'

const maxEntries = 5000
const maxFiles = 500
const maxDepth = 4
/** Files in these folders come from tools or other agents, not from a user of this one. */
const skippedFolders = new Set(['node_modules', 'venv', 'site-packages', 'shared-in', 'shared-out'])

/**
 * Lists the credential files of the workspace, the bundle and the template of `.mcp.json`. Considers regular
 * files only, does not follow links, and stops at `maxDepth`.
 */
export async function findCredentials(home: string): Promise<CredentialFile[]> {
  const found: CredentialFile[] = []
  let left = maxEntries

  async function note(path: string) {
    const file = await lstat(join(home, path)).catch(() => null)
    if (file?.isFile()) found.push({ path, size: file.size, modified: file.mtime.toISOString() })
  }

  async function walk(folder: string, depth: number): Promise<void> {
    const entries = await readdir(join(home, folder), { withFileTypes: true }).catch((): Dirent[] => [])
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (left === 0 || found.length === maxFiles) return
      left -= 1
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (depth < maxDepth && !entry.name.startsWith('.') && !skippedFolders.has(entry.name))
          await walk(path, depth + 1)
      } else if (path === bundleFile || path === mcpTemplateFile || credentialPathFault(path) === null) {
        await note(path)
      }
    }
  }

  // Reads `credentials/` first: a crowded workspace must not hide it.
  const first = await lstat(join(home, 'credentials')).catch(() => null)
  if (first?.isDirectory()) await walk('credentials', 1)
  const before = new Set(found.map(({ path }) => path))
  await walk('', 1)
  return found.filter(({ path }, index) => !before.has(path) || index < before.size)
}
