import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ProcessFailed } from '../platform/supervised-process.ts'
import { buildOnce } from './build-once.ts'
import { repository } from './repository.ts'
import { run } from './run.ts'

const web = join(repository.root, 'web')

/** Sources of the web UI. `package-lock.json` represents its libraries. */
const sources = ['src', 'public', 'build', 'index.html', 'vite.config.ts', 'package.json'].map((path) =>
  join(web, path),
)
/** The guides are part of the build; an archive may lack them. */
const shared = ['contracts/src', 'package-lock.json', 'docs']
  .map((path) => join(repository.root, path))
  .filter((path) => existsSync(path))

/**
 * Builds the web UI into `web/dist`, unless the existing build has the same sources. Throws `ProcessFailed` with
 * the output of the build.
 */
export async function buildPages(
  options: { signal?: AbortSignal; onWait?: () => void } = {},
): Promise<'built' | 'fresh'> {
  const stamp = await digestOf([...sources, ...shared])
  return buildOnce({ ...options, parent: web, stamp, make: (folder) => runVite(folder, options.signal) })
}

async function runVite(folder: string, signal: AbortSignal | undefined): Promise<void> {
  const vite = join(repository.root, 'node_modules/vite/bin/vite.js')
  const args = [vite, 'build', web, '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn']
  const { code, lastLines } = await run(process.execPath, args, {
    cwd: repository.root,
    env: { ...process.env, NODE_ENV: 'production' },
    signal,
    timeoutMs: 300_000,
  })
  signal?.throwIfAborted()
  if (code !== 0) throw new ProcessFailed(`The web UI could not be built:\n${lastLines.join('\n')}`, 1)
}

async function digestOf(paths: string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const source of paths) {
    for (const path of await filesOf(source)) {
      hash
        .update(`${relative(repository.root, path)}\0`)
        .update(await readFile(path))
        .update('\0')
    }
  }
  return hash.digest('hex')
}

/** Returns the file itself, or every file below the folder in a fixed order. */
async function filesOf(source: string): Promise<string[]> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true }).catch(() => null)
  if (!entries) return [source]
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
