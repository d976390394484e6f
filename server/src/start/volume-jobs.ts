import { join, resolve } from 'node:path'
import type Docker from 'dockerode'
import { ensureBackupImage } from '../ports/agent-images/docker/backup-image.ts'
import { foldersOf } from '../ports/containers/sandbox/folders.ts'
import { volumeData } from '../ports/containers/sandbox/launch.ts'
import { createDockerJobs } from '../ports/volume-jobs/docker.ts'
import { createNoJobs } from '../ports/volume-jobs/none.ts'
import type { VolumeJobs } from '../ports/volume-jobs/port.ts'
import { createSandboxJobs } from '../ports/volume-jobs/sandbox.ts'

export type OpenVolumeJobsOptions = {
  install: string
  dataDir: string
  connect: (url: string) => Docker
  env: Record<string, string | undefined>
}

/** Opens jobs beside the volumes of a container engine's URL. The fake engine has no volumes to mount. */
export function openVolumeJobs(url: string, options: OpenVolumeJobsOptions): VolumeJobs {
  const { install, dataDir, connect, env } = options
  if (url.startsWith('docker:')) {
    const docker = connect(url)
    const root = resolve(import.meta.dirname, '../../..')
    return createDockerJobs({
      docker,
      install,
      isInContainer: env.ROOST_INSTALL_SOURCE === 'image',
      ensureImage: (onProgress, signal) => ensureBackupImage({ docker, root, env, onProgress, signal }),
    })
  }
  if (url.startsWith('kubernetes:'))
    return createNoJobs(
      'Full backups of agents’ volumes are not available on Kubernetes. Use volume snapshots of the cluster, and roost backup for the database.',
    )
  const folders = foldersOf(join(dataDir, 'sandbox', install))
  return createSandboxJobs({
    folder: join(dataDir, 'backup-jobs'),
    volumeFolder: (volume) => volumeData(folders, volume),
    path: env.PATH ?? '',
  })
}
