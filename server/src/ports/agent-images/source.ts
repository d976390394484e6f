import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** `path` is relative to the repository, with slashes. */
export type SourceFile = { path: string; content: Buffer; executable: boolean }

/** Folders that the image holds, as they stand in the repository. */
const folders = ['agent', 'contracts', 'images/agent']

/**
 * What goes into an agent image from the repository at `root`, without tests: a changed test must not
 * recreate agents. Sorted by path.
 */
export async function readAgentSource(root: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [
    // The repository's own package.json names tools that an agent does not have, and changes with them.
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

/** 12 hexadecimal digits that stand for these files and parameters. */
export function contentVersion(files: SourceFile[], parameters: Record<string, string>): string {
  const hash = createHash('sha256')
  for (const { path, content } of files) hash.update(`${path}\0${content.length}\0`).update(content)
  for (const [name, value] of Object.entries(parameters).sort()) hash.update(`${name}=${value}\0`)
  return hash.digest('hex').slice(0, 12)
}

/** The pinned CLIs are parameters of each runtime's own image: a new one of one must not renew the others. */
function isShipped(path: string): boolean {
  return !/(^|\/)(node_modules|test)\/|\.test\.ts$|(^|\/)(suite\.ts|runtimes\.json)$|(^|\/)\./.test(path)
}
