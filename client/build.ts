/**
 * Builds the contracts as a package that any project can install: plain JavaScript with declarations, because Node
 * runs no TypeScript below `node_modules`. `node client/build.ts` writes it to `client/dist`.
 */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const buildMs = 120_000

type Manifest = { version: string; license: string; name: string; dependencies: Record<string, string> }

/** Replaces the contents of the folder with the package. Throws with the compiler's output. */
export async function buildClient(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await compile(folder)
  const manifest = manifestOf(await read('package.json'), await read('contracts/package.json'))
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  await copyFile(join(root, 'client/README.md'), join(folder, 'README.md'))
}

async function compile(folder: string): Promise<void> {
  const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
  const args = [join(dirname(typescript), 'bin/tsc'), '-p', join(root, 'client'), '--outDir', folder]
  const compiling = promisify(execFile)(process.execPath, args, { timeout: buildMs })
  // The compiler writes its errors to standard output.
  await compiling.catch((error: Error & { stdout?: string }) => {
    throw new Error(error.stdout || error.message, { cause: error })
  })
}

function manifestOf(platform: Manifest, { name, license, dependencies }: Manifest): object {
  const entry = (path: string) => ({ types: `./${path}.d.ts`, default: `./${path}.js` })
  return {
    name,
    version: platform.version,
    description: 'Typed client of the Roost API: every endpoint as a value, and the shapes of all bodies',
    type: 'module',
    license,
    exports: { '.': entry('index'), './*': entry('*'), './package.json': './package.json' },
    sideEffects: false,
    engines: { node: '>=20' },
    // A range, so that a project shares the version of the library that it already has.
    dependencies: Object.fromEntries(
      Object.entries(dependencies).map(([library, version]) => [library, `^${version}`]),
    ),
  }
}

async function read(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, path), 'utf8'))
}

if (import.meta.main) {
  const folder = join(root, 'client/dist')
  await buildClient(folder)
  console.log(folder)
}
