import { namedImage } from './named-image.ts'
import type { AgentImages } from './port.ts'

/** Images named by the operator that the nodes of a cluster pull by themselves, each when it first needs one. */
export function createPulledAgentImages(name: string): AgentImages {
  return {
    tagFor: (runtime) => namedImage(name, runtime),
    isReady: async () => true,
    ensure: async () => {},
  }
}
