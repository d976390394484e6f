import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { AgentImageError } from '../port.ts'
import { contentVersion, type SourceFile } from '../source.ts'
import { ensureBase } from './base.ts'
import { proxies } from './docker.ts'
import { ensureVersioned, findVersioned, type VersionedImage } from './versioned-image.ts'

const platformRepository = 'roost-platform'

/** Read by npm to install the same versions as in the repository. */
const manifests = [
  'package.json',
  'package-lock.json',
  ...['contracts', 'server', 'agent', 'cli', 'mcp', 'test-support', 'web', 'checks/openapi'].map(
    (folder) => `${folder}/package.json`,
  ),
]
/** Code of the platform. `agent` and `images` belong to it, because the tags of agents' images are their digests. */
const folders = ['contracts', 'server', 'mcp', 'cli/src', 'agent', 'images', 'web/dist']

/** `record` becomes `build.json`, from which the platform knows its commit without a repository. */
export type PlatformImageOptions = {
  docker: Docker
  root: string
  record: Record<string, string | null>
  onProgress: (text: string) => void
  signal?: AbortSignal
  env: Record<string, string | undefined>
}

/** Finds the image of this source: `roost-platform:<version>`. It is ready if it was built from the same files. */
export async function findPlatformImage(options: PlatformImageOptions): Promise<VersionedImage> {
  return findVersioned(options.docker, await recipe(options))
}

/** Builds the image unless it exists. Throws `AgentImageError`. */
export async function ensurePlatformImage(options: PlatformImageOptions): Promise<VersionedImage> {
  const { docker, env, signal, onProgress } = options
  const { files, ...wanted } = await recipe(options)
  return ensureVersioned(wanted, {
    ...{ docker, files, signal, onProgress },
    subject: 'platform',
    dockerfile: 'images/platform/Dockerfile',
    baseArguments: async () => ({
      BASE_IMAGE: await ensureBase({ docker, onProgress, signal, env }),
      ...proxies(env),
    }),
  })
}

async function recipe({ root, record }: Pick<PlatformImageOptions, 'root' | 'record'>) {
  const files: SourceFile[] = []
  const add = async (path: string, as: string) =>
    files.push({ path: as, content: await readFile(join(root, path)), executable: path.endsWith('.sh') })
  for (const path of manifests) {
    await add(path, `manifests/${path}`)
    await add(path, `app/${path}`)
  }
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(
      missing(folder),
    )
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name).slice(join(root, '/').length)
      if (entry.isFile() && isShipped(path)) await add(path, `app/${path}`)
    }
  }
  await add('LICENSE', 'app/LICENSE')
  await add('images/platform/Dockerfile', 'images/platform/Dockerfile')
  const build = Buffer.from(`${JSON.stringify(record, null, 2)}\n`)
  files.push({ path: 'app/build.json', content: build, executable: false })
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  const manifest: { version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return { image: `${platformRepository}:${manifest.version}`, version: contentVersion(files, {}), files }
}

function isShipped(path: string): boolean {
  if (manifests.includes(path)) return false
  // A template's files are content, whatever their names.
  if (path.startsWith('server/templates/')) return true
  return !/(^|\/)(node_modules|test)\/|\.test\.ts$|(^|\/)(suite|test-engine)\.ts$|(^|\/)\./.test(path)
}

function missing(folder: string): (error: unknown) => never {
  return (error) => {
    const reason = folder === 'web/dist' ? 'the web UI is not built' : `${folder} cannot be read`
    throw new AgentImageError('build_failed', `The platform image cannot be built: ${reason}.`, {
      cause: error,
    })
  }
}
