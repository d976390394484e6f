import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { alone } from '../single-flight.ts'
import { contentVersion, type SourceFile } from '../source.ts'
import { ensureBase, hasImage } from './base.ts'
import { buildImage } from './build.ts'
import { proxies } from './docker.ts'

const dockerfile = 'images/backup/Dockerfile'

export type BackupImageOptions = {
  docker: Docker
  root: string
  onProgress: (text: string) => void
  signal?: AbortSignal
  env: Record<string, string | undefined>
}

/** Builds the image of backup jobs unless it exists, and returns its name. Throws `AgentImageError`. */
export async function ensureBackupImage(options: BackupImageOptions): Promise<string> {
  const { docker, root, env, signal, onProgress } = options
  const file: SourceFile = {
    path: dockerfile,
    content: await readFile(join(root, dockerfile)),
    executable: false,
  }
  const image = `roost-backup:${contentVersion([file], {})}`
  if (await hasImage(docker, image)) return image
  const report = (text: string) => onProgress(`Backup image: ${text}`)
  const build = async () => {
    if (await hasImage(docker, image)) return
    await buildImage({
      docker,
      tag: image,
      dockerfile,
      subject: 'backup',
      files: [file],
      arguments: { BASE_IMAGE: await ensureBase({ docker, onProgress, signal, env }), ...proxies(env) },
      labels: { 'roost.platform': 'backup-image' },
      onProgress: report,
      signal,
    })
  }
  await alone('backup-image', build, {
    onWait: () => report('waiting for another process that builds it'),
    signal,
  })
  return image
}
