import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { AgentImageError } from '../port.ts'
import { alone } from '../single-flight.ts'
import { contentVersion, type SourceFile } from '../source.ts'
import { ensureBase } from './base.ts'
import { buildImage } from './build.ts'
import { proxies } from './docker.ts'

export const platformRepository = 'roost-platform'
const versionLabel = 'roost.image-version'

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

export type PlatformImage = { image: string; version: string; isReady: boolean }

/** Finds the image of this source: `roost-platform:<version>`. It is ready if it was built from the same files. */
export async function findPlatformImage(options: PlatformImageOptions): Promise<PlatformImage> {
  return find(options.docker, await recipe(options))
}

/** Builds the image unless it exists. Throws `AgentImageError`. */
export async function ensurePlatformImage(options: PlatformImageOptions): Promise<PlatformImage> {
  const { docker, env, signal } = options
  const { image, version, files } = await recipe(options)
  const report = (text: string) => options.onProgress(`Platform image: ${text}`)
  const build = async () => {
    const found = await find(docker, { image, version })
    if (found.isReady) return
    const before = await idOf(docker, image)
    const base = await ensureBase({ docker, onProgress: options.onProgress, signal, env })
    await buildImage({
      docker,
      tag: image,
      dockerfile: 'images/platform/Dockerfile',
      subject: 'platform',
      files,
      arguments: { BASE_IMAGE: base, ...proxies(env) },
      labels: { 'roost.platform': 'platform-image', [versionLabel]: version },
      onProgress: report,
      signal,
    })
    if (before !== null && before !== (await idOf(docker, image))) await removeUnused(docker, before)
  }
  const onWait = () => report('waiting for another process that builds it')
  await alone('platform-image', build, { onWait, signal }).catch((error: unknown) => {
    if (!signal?.aborted) throw error
    throw new AgentImageError('cancelled', 'Building the platform image was cancelled.', { cause: error })
  })
  return { image, version, isReady: true }
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

async function find(
  docker: Docker,
  { image, version }: { image: string; version: string },
): Promise<PlatformImage> {
  try {
    const { Config } = await docker.getImage(image).inspect()
    return { image, version, isReady: Config.Labels?.[versionLabel] === version }
  } catch (error) {
    if (isMissing(error)) return { image, version, isReady: false }
    const reason = error instanceof Error ? error.message.trim() : String(error)
    throw new AgentImageError('engine_down', `The container engine does not answer: ${reason}`, {
      cause: error,
    })
  }
}

async function idOf(docker: Docker, image: string): Promise<string | null> {
  return docker
    .getImage(image)
    .inspect()
    .then(
      ({ Id }) => Id,
      () => null,
    )
}

/** Without force the engine keeps an image that a container uses. */
async function removeUnused(docker: Docker, id: string): Promise<void> {
  await docker
    .getImage(id)
    .remove()
    .catch(() => {})
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === 404
}

function missing(folder: string): (error: unknown) => never {
  return (error) => {
    const reason = folder === 'web/dist' ? 'the web UI is not built' : `${folder} cannot be read`
    throw new AgentImageError('build_failed', `The platform image cannot be built: ${reason}.`, {
      cause: error,
    })
  }
}
