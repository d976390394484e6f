import type { Client } from '@roost/contracts/client'
import { recordAuditEntry } from '@roost/contracts/foundation/audit'
import type { CallNote } from './server.ts'

/** Calls that wait to be told of; beyond it they are counted and left out, rather than hold up work. */
const mostWaiting = 1_000

/**
 * One audit entry for each call: the tool, how long it took, how it ended, the names of its arguments and never
 * their values. Fails open: a call is not undone because its entry could not be written, and the log says so.
 */
export function createCallAudit(internal: Client, onLost: (error: unknown, lost: number) => void) {
  let waiting = 0
  let lost = 0
  return function called({ tool, key, target, outcome, durationMs, argumentNames }: CallNote): void {
    if (waiting >= mostWaiting) {
      lost += 1
      return
    }
    waiting += 1
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
          ...(target === null ? {} : { target_type: 'agent', target_id: kept(target) }),
          details: { duration_ms: durationMs, outcome, arguments: argumentNames.map(kept) },
        },
      })
      .catch((error: unknown) => {
        lost += 1
        onLost(error, lost)
      })
      .finally(() => {
        waiting -= 1
      })
  }
}

/** What a caller has named, as an entry keeps it: a call with a name that no database takes is written down, too. */
function kept(name: string): string {
  return name.slice(0, 100).toWellFormed().replaceAll('\0', '\ufffd')
}
