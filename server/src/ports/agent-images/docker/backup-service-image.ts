import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contentVersion } from '../source.ts'
import { ensureBase } from './base.ts'
import { proxies } from './docker.ts'
import { ensurePlatformImage, findPlatformImage, type PlatformImageOptions } from './platform-image.ts'
import { ensureVersioned, findVersioned, type VersionedImage } from './versioned-image.ts'

const dockerfile = 'images/backup/platform.Dockerfile'

/** Finds the image of the service `backup`: `roost-backup:<version>`. Its base is the platform's image. */
export async function findBackupServiceImage(options: PlatformImageOptions): Promise<VersionedImage> {
  const { files: _, ...wanted } = await recipe(options, await findPlatformImage(options))
  return findVersioned(options.docker, wanted)
}

/** Builds it, and the platform's image, unless they exist. Throws `AgentImageError`. */
export async function ensureBackupServiceImage(options: PlatformImageOptions): Promise<VersionedImage> {
  const { docker, env, signal, onProgress } = options
  const platform = await ensurePlatformImage(options)
  const { files, ...wanted } = await recipe(options, platform)
  return ensureVersioned(wanted, {
    ...{ docker, files, signal, onProgress, dockerfile },
    subject: 'backup',
    baseArguments: async () => ({
      BASE_IMAGE: await ensureBase({ docker, onProgress, signal, env }),
      // Its id, because another checkout may take the name meanwhile.
      PLATFORM_IMAGE: (await docker.getImage(platform.image).inspect()).Id,
      ...proxies(env),
    }),
  })
}

async function recipe({ root }: PlatformImageOptions, platform: VersionedImage) {
  const files = [{ path: dockerfile, content: await readFile(join(root, dockerfile)), executable: false }]
  const image = platform.image.replace('roost-platform:', 'roost-backup:')
  return { image, version: contentVersion(files, { platform: platform.version }), files }
}
