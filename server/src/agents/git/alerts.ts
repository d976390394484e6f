import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { Agent } from '../records/index.ts'
import { isFrozen } from './rules.ts'
import type { AgentGitRow } from './tables.ts'

export function failingAlert(agent: Agent, row: AgentGitRow): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'sync_failing',
    title: `The agent "${agent.name}" cannot be synced with its repository`,
    question: `${row.consecutive_failures} syncs in a row failed: ${row.last_error ?? 'unknown'}. Its schedules ${row.freeze_schedules ? 'stand still' : 'go on'} until one succeeds.`,
    priority: 'high',
    context: {
      repository: row.repository,
      consecutive_failures: row.consecutive_failures,
      last_error: row.last_error,
      frozen: isFrozen(row),
    },
  }
}

export function credentialAlert(agent: Agent): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'remote_credential',
    title: `A git address in the workspace of "${agent.name}" holds a credential`,
    question: 'Remove it from .git/config and make the token void: everything in the container can read it.',
    priority: 'high',
    context: {},
  }
}
