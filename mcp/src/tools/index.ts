import type { Tool } from '../tool.ts'
import { agentTools } from './agents.ts'
import { attemptTools } from './attempts.ts'
import { callTools } from './calls.ts'
import { canvasTools } from './canvas.ts'
import { chatTools } from './chat.ts'
import { connectorTools } from './connector.ts'
import { credentialTools } from './credentials.ts'
import { eventTools } from './events.ts'
import { executionTools } from './executions.ts'
import { fanOutTools } from './fan-out.ts'
import { gitTools } from './git.ts'
import { healthTools } from './health.ts'
import { historyTools } from './history.ts'
import { loopTools } from './loops.ts'
import { messageTools } from './messages.ts'
import { operatorQueueTools } from './operator-queue.ts'
import { paymentTools } from './payments.ts'
import { providerSubscriptionTools } from './provider-subscriptions.ts'
import { reminderTools } from './reminders.ts'
import { scheduleTools } from './schedules.ts'
import { skillTools } from './skills.ts'
import { tagTools } from './tags.ts'

/** Every tool of the platform, in the order in which they are listed. */
export const tools: readonly Tool[] = [
  ...agentTools,
  ...healthTools,
  ...chatTools,
  ...fanOutTools,
  ...attemptTools,
  ...executionTools,
  ...historyTools,
  ...loopTools,
  ...scheduleTools,
  ...reminderTools,
  ...eventTools,
  ...operatorQueueTools,
  ...messageTools,
  ...callTools,
  ...canvasTools,
  ...gitTools,
  ...skillTools,
  ...tagTools,
  ...credentialTools,
  ...providerSubscriptionTools,
  ...paymentTools,
  ...connectorTools,
]
