import { Fault } from '../../kit/fault.ts'
import { AgentImageError } from '../../ports/agent-images/port.ts'
import { ContainerError } from '../../ports/containers/port.ts'

const sentences: Record<ContainerError['fault'], string> = {
  engine_down: 'The container engine does not answer.',
  engine_fault: 'The container engine refused the operation.',
  no_such_container: "The agent's container is gone.",
  name_taken: "A container that is not ours has the name of the agent's container.",
  port_taken: "The agent's SSH port is taken by another program on this machine.",
  image_missing: "The image of the agent's runtime is not there.",
  volume_in_use: 'Another container mounts a volume of the agent.',
}

/** What a caller is told of an engine's failure: which kind, never its text. Anything else passes as it is. */
export function engineFault(error: unknown): unknown {
  const sentence = sentenceFor(error)
  return sentence === null ? error : new Fault('container_engine_error', sentence, {}, { cause: error })
}

function sentenceFor(error: unknown): string | null {
  if (error instanceof ContainerError) return sentences[error.fault]
  // Written for the operator, and says what to do.
  return error instanceof AgentImageError ? error.message : null
}
