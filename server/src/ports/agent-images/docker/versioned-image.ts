import type Docker from 'dockerode'
import { AgentImageError } from '../port.ts'
import { alone } from '../single-flight.ts'
import { type BuildOptions, buildImage } from './build.ts'

/** An image that is named after Roost's version. `version`: identifies what it was built from. */
export type VersionedImage = { image: string; version: string; isReady: boolean }
type Wanted = Omit<VersionedImage, 'isReady'>

const versionLabel = 'roost.image-version'

/** Throws `AgentImageError` engine_down. */
export async function findVersioned(docker: Docker, { image, version }: Wanted): Promise<VersionedImage> {
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

type EnsureOptions = Pick<
  BuildOptions,
  'docker' | 'subject' | 'dockerfile' | 'files' | 'onProgress' | 'signal'
> & {
  /** Builds what the image is built from. */
  baseArguments(): Promise<Record<string, string>>
}

/** Builds the image unless it exists, and removes the one that it replaces. Throws `AgentImageError`. */
export async function ensureVersioned(
  { image, version }: Wanted,
  { baseArguments, ...options }: EnsureOptions,
): Promise<VersionedImage> {
  const { docker, subject, signal } = options
  const report = (text: string) => options.onProgress(`${titles[subject]}: ${text}`)
  const build = async () => {
    const found = await findVersioned(docker, { image, version })
    if (found.isReady) return
    const before = await idOf(docker, image)
    await buildImage({
      ...options,
      tag: image,
      arguments: await baseArguments(),
      labels: { 'roost.platform': `${subject}-image`, [versionLabel]: version },
      onProgress: report,
    })
    if (before !== null && before !== (await idOf(docker, image))) await removeUnused(docker, before)
  }
  const onWait = () => report('waiting for another process that builds it')
  await alone(`${subject}-image`, build, { onWait, signal }).catch((error: unknown) => {
    if (!signal?.aborted) throw error
    throw new AgentImageError('cancelled', `Building the ${subject} image was cancelled.`, { cause: error })
  })
  return { image, version, isReady: true }
}

const titles = { agent: 'Agent image', platform: 'Platform image', backup: 'Backup image' }

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
