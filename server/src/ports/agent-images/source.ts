import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** `path` is relative to the repository, with slashes. */
export type SourceFile = { path: string; content: Buffer; executable: boolean }

/** Folders of the repository that are copied to the image. */
const folders = ['agent', 'contracts', 'images/agent']

/**
 * Reads the files of an agent image from the repository, sorted by path. Excludes tests, because changed
 * tests must not recreate agents.
 */
export async function readAgentSource(root: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [
    // Replaces the repository's package.json, which names tools that agents lack and changes with them.
    { path: 'package.json', content: Buffer.from('{"private":true,"type":"module"}\n'), executable: false },
  ]
  for (const folder of folders) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name).slice(join(root, '/').length)
      if (!entry.isFile() || !isShipped(path)) continue
      files.push({ path, content: await readFile(join(root, path)), executable: path.endsWith('.sh') })
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Returns 12 hexadecimal digits that identify these files and parameters. */
export function contentVersion(files: SourceFile[], parameters: Record<string, string>): string {
  const hash = createHash('sha256')
  for (const { path, content } of files) hash.update(`${path}\0${content.length}\0`).update(content)
  for (const [name, value] of Object.entries(parameters).sort()) hash.update(`${name}=${value}\0`)
  return hash.digest('hex').slice(0, 12)
}

/**
 * Excludes the pinned CLIs: each is a parameter of its own image, so an update does not rebuild the others.
 */
function isShipped(path: string): boolean {
  return !/(^|\/)(node_modules|test)\/|\.test\.ts$|(^|\/)(suite\.ts|runtimes\.json)$|(^|\/)\./.test(path)
}
