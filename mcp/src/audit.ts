import type { Client } from '@roost/contracts/client'
import { recordAuditEntry } from '@roost/contracts/foundation/audit'
import type { FinishedCall } from './server.ts'

/** Limit of pending entries. Further entries are counted and dropped, so that tool calls do not wait. */
const maxPending = 1_000

/**
 * Writes one audit entry per call: tool, duration, outcome and the names of its arguments, never their values.
 * Fails open: a call succeeds even if its entry cannot be written, which is logged.
 */
export function createCallAudit(internal: Client, onLost: (error: unknown, dropped: number) => void) {
  let pending = 0
  let dropped = 0
  return function called({ tool, key, target, outcome, durationMs, argumentNames }: FinishedCall): void {
    if (pending >= maxPending) {
      dropped += 1
      return
    }
    pending += 1
    internal
      .call(recordAuditEntry, {
        body: {
          event_type: 'mcp_operation',
          event_action: tool,
          mcp_key_id: key.key_id,
          mcp_key_name: key.key_name,
          mcp_scope: key.scope,
          actor_id: key.user_id,
          actor_agent_name: key.agent_name,
          ...(target === null ? {} : { target_type: 'agent', target_id: storable(target) }),
          details: { duration_ms: durationMs, outcome, arguments: argumentNames.map(storable) },
        },
      })
      .catch((error: unknown) => {
        dropped += 1
        onLost(error, dropped)
      })
      .finally(() => {
        pending -= 1
      })
  }
}

/** Makes a name from the caller storable in any database, so that its call is recorded too. */
function storable(name: string): string {
  return name.slice(0, 100).toWellFormed().replaceAll('\0', '\ufffd')
}
