import { restoreReasonTexts } from '@roost/contracts/agents/history'
import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { RestoreRow } from './tables.ts'

/**
 * What the owner learns about a failed run that was undone, or could not be. `before`: number of the record made before
 * that. No words of the agent: people with a share see alerts too.
 */
export function undoAlert(restore: RestoreRow, before: number | null): PlatformAlert {
  const { id, agent_id, run_id, state, reason, message, added, changed, attributes, deleted } = restore
  const isUndone = state === 'restored'
  const counts = { added, changed: changed + attributes, deleted }
  return {
    ...base({ agentId: agent_id, executionId: run_id ?? '' }),
    // The workspace still has the changes of each of these.
    isPerRun: !isUndone,
    priority: isUndone ? 'medium' : 'high',
    title: isUndone ? 'A failed run was undone' : 'A failed run could not be undone',
    question: isUndone
      ? [
          `The workspace is as it was before the run: ${added} added, ${changed + attributes} changed, ${deleted} deleted.`,
          ...(message === null ? [] : [message]),
          ...(before === null ? [] : [`To get the changes of the run back, restore record ${before}.`]),
        ].join(' ')
      : `The workspace still has the changes of the run. ${restoreReasonTexts[reason ?? 'platform_fault']} Check them, and undo the run on its page if necessary.`,
    context: { restore: id, state, reason, ...(isUndone ? counts : {}) },
  }
}

/** No restore could be opened for a failed run that had to be undone. */
export function notOpenedAlert(
  run: { agentId: string; executionId: string },
  reason: 'no_record' | 'restore_open',
): PlatformAlert {
  const because =
    reason === 'no_record'
      ? 'The workspace was not recorded before the run.'
      : 'Another restore of the agent is not complete.'
  return {
    ...base(run),
    isPerRun: true,
    priority: 'high',
    title: 'A failed run could not be undone',
    question: `The workspace still has the changes of the run. ${because} Check them.`,
    context: { state: 'failed', reason },
  }
}

function base({ agentId, executionId }: { agentId: string; executionId: string }) {
  return { agentId, kind: 'failed_run_undone' as const, executionId }
}
