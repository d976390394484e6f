import { createHash } from 'node:crypto'
import { namedImage as imageOf } from '../../kit/named-images.ts'
import type { AgentImage, AgentRuntime } from './port.ts'

/** The image that an operator named with `ROOST_AGENT_IMAGE`, with a version that changes with its name. */
export function namedImage(setting: string, runtime: AgentRuntime): AgentImage {
  const image = imageOf(setting, runtime)
  return { image, version: createHash('sha256').update(image).digest('hex').slice(0, 12) }
}
