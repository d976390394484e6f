import { Fault } from '../../kit/fault.ts'
import { AgentImageError } from '../../ports/agent-images/port.ts'
import { ContainerError } from '../../ports/containers/port.ts'

const sentences: Record<ContainerError['fault'], string> = {
  engine_down: 'The container engine does not answer.',
  engine_fault: 'The container engine refused the operation.',
  no_such_container: "The agent's container does not exist.",
  name_taken:
    "Other containers on this engine use the name of the agent's container. Set ROOST_CONTAINER_PREFIX to another prefix.",
  port_taken: "The agent's SSH port is in use by another program on this machine.",
  image_missing: "The image of the agent's runtime is missing.",
  runtime_missing:
    "The container engine does not list the agent's OCI runtime. Set isolation.runtime to one that it lists, or correct ROOST_CONTAINER_RUNTIME.",
  volume_in_use: 'Another container mounts a volume of the agent.',
  base_missing: 'The volume that the workspace begins with does not exist.',
  quota_exceeded: 'A quota of the cluster does not allow the agent.',
  start_pending: 'The container engine cannot run the agent yet.',
  node_lost: "The agent's node is unreachable, and the agent may still run there.",
}

const engineTextFollows: ReadonlySet<ContainerError['fault']> = new Set([
  'quota_exceeded',
  'start_pending',
  'node_lost',
])

/**
 * Maps an engine failure to a fault that names its kind. The engine's own text is added only for
 * quotas, waits and lost nodes, because the caller needs it. Returns other errors unchanged.
 */
export function engineFault(error: unknown): unknown {
  const sentence = sentenceFor(error)
  return sentence === null ? error : new Fault('container_engine_error', sentence, {}, { cause: error })
}

function sentenceFor(error: unknown): string | null {
  if (error instanceof ContainerError) {
    const sentence = sentences[error.fault]
    return engineTextFollows.has(error.fault) ? `${sentence} ${error.message}` : sentence
  }
  // These messages are written for the operator and contain the remedy.
  return error instanceof AgentImageError ? error.message : null
}
