import type Docker from 'dockerode'
import { AgentImageError } from '../port.ts'
import { makeLocalBase } from './local-base.ts'
import { pull } from './pull.ts'

/** The public base image of agent images, used when a registry is reachable. */
export const publicBase = 'node:24-bookworm-slim'
/** The base image built on this machine when no registry is reachable. */
export const localBase = 'roost-agent-base:node24'

export type BaseOptions = {
  docker: Docker
  onProgress: (text: string) => void
  signal?: AbortSignal
  env: Record<string, string | undefined>
}

/** Returns the name of an available base image; pulls or builds one if needed. */
export async function ensureBase(options: BaseOptions): Promise<string> {
  const { docker, onProgress, signal } = options
  for (const image of [publicBase, localBase]) if (await hasImage(docker, image)) return image
  onProgress(`Fetching ${publicBase}`)
  const refusal = await pull({ docker, image: publicBase, onProgress, signal }).then(
    () => null,
    (error: unknown) => error,
  )
  if (!refusal) return publicBase
  if (signal?.aborted) throw new AgentImageError('cancelled', 'Building the agent image was cancelled.')
  onProgress('No image registry answers: building a base image from this machine’s package sources')
  await makeLocalBase({ ...options, tag: localBase })
  return localBase
}

/** Throws `AgentImageError` engine_down when the engine does not answer. */
export async function hasImage(docker: Docker, image: string): Promise<boolean> {
  try {
    await docker.getImage(image).inspect()
    return true
  } catch (error) {
    if (error instanceof Error && 'statusCode' in error && error.statusCode === 404) return false
    const reason = error instanceof Error ? error.message.trim() : String(error)
    throw new AgentImageError('engine_down', `The container engine does not answer: ${reason}`, {
      cause: error,
    })
  }
}
