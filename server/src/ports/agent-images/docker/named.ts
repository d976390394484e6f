import type Docker from 'dockerode'
import { namedImage } from '../named-image.ts'
import { AgentImageError, type AgentImages, type AgentRuntime } from '../port.ts'
import { hasImage } from './base.ts'
import { pull } from './pull.ts'

/** Images named by the operator (`ROOST_AGENT_IMAGE`), pulled when the engine lacks them. */
export function createNamedAgentImages(docker: Docker, name: string): AgentImages {
  const tagFor = (runtime: AgentRuntime) => namedImage(name, runtime)
  return {
    tagFor,
    isReady: (runtime) => hasImage(docker, tagFor(runtime).image),
    async ensure(runtime, onProgress, signal) {
      const { image } = tagFor(runtime)
      if (await hasImage(docker, image)) return
      onProgress(`Fetching ${image}`)
      await pull({ docker, image, onProgress, signal }).catch((error: unknown) => {
        if (signal?.aborted) throw new AgentImageError('cancelled', `Fetching ${image} was cancelled.`)
        const why = error instanceof Error ? error.message : String(error)
        throw new AgentImageError('not_found', `ROOST_AGENT_IMAGE: ${image} cannot be fetched: ${why}`, {
          cause: error,
        })
      })
    },
  }
}
