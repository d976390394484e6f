import type { Tool } from '../tool.ts'
import { agentTools } from './agents.ts'
import { chatTools } from './chat.ts'
import { executionTools } from './executions.ts'
import { fanOutTools } from './fan-out.ts'
import { healthTools } from './health.ts'
import { tagTools } from './tags.ts'

/** Every tool of the platform, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  ...agentTools,
  ...healthTools,
  ...chatTools,
  ...fanOutTools,
  ...executionTools,
  ...tagTools,
]
