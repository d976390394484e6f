import { fileURLToPath } from 'node:url'
import type Docker from 'dockerode'
import { createDockerAgentImages } from './docker/docker.ts'
import { createNamedAgentImages } from './docker/named.ts'
import { createFakeAgentImages } from './fake.ts'
import type { AgentImages } from './port.ts'
import { createPulledAgentImages } from './pulled.ts'
import { createSandboxAgentImages } from './sandbox.ts'

export type AgentImagesOptions = {
  /** Creates a client for a `docker:` URL, like the container port. */
  connect: (url: string) => Docker
  /** `ROOST_AGENT_IMAGE`; null when images are built here. */
  agentImage: string | null
  dataDir: string
  /** The environment of builds and package managers. */
  env: Record<string, string | undefined>
  /** The repository's root; by default the one with this file. */
  root?: string
}

/** Selects the adapter by the URL of the container port. Reads the source of the agent program once, now. */
export async function openAgentImages(
  containersUrl: string,
  options: AgentImagesOptions,
): Promise<AgentImages> {
  const { connect, agentImage, dataDir, env, root = repositoryRoot } = options
  const scheme = containersUrl.slice(0, containersUrl.indexOf(':'))
  switch (scheme) {
    case 'docker': {
      const docker = connect(containersUrl)
      return agentImage
        ? createNamedAgentImages(docker, agentImage)
        : createDockerAgentImages({ docker, root, env })
    }
    case 'kubernetes':
      if (agentImage === null)
        throw new Error('ROOST_AGENT_IMAGE must be set with kubernetes:, whose nodes pull the images')
      return createPulledAgentImages(agentImage)
    case 'sandbox':
      return createSandboxAgentImages({ dataDir, root, env })
    case 'fake':
      return createFakeAgentImages()
    default:
      throw new Error(`ROOST_CONTAINERS_URL: there are no agent images for ${JSON.stringify(scheme)}:`)
  }
}

const repositoryRoot = fileURLToPath(new URL('../../../../', import.meta.url))
