import type { AgentKey, AgentKeyCheck } from '@roost/contracts/agents/mcp-key'
import type { Tone } from '../../ui/badge.tsx'

type Words = { label: string; tone: Tone }

export const healthWords: Record<AgentKey['health'], Words> = {
  active: { label: 'In use', tone: 'success' },
  never_used: { label: 'Never used', tone: 'neutral' },
  stale: { label: 'Not used for a day', tone: 'warning' },
  env_absent: { label: 'Missing in the container', tone: 'danger' },
  env_mismatch: { label: 'Different key in the container', tone: 'warning' },
  missing: { label: 'No key', tone: 'danger' },
  exempt: { label: 'Created at the first start', tone: 'neutral' },
}

/** The result of the check and its consequences. */
export const verdictWords: Record<AgentKeyCheck['verdict'], Words & { meaning: string }> = {
  ok: {
    label: 'Agent’s own key',
    tone: 'success',
    meaning: 'The agent calls the platform with its own key.',
  },
  foreign_user_key: {
    label: 'Key of a user',
    tone: 'danger',
    meaning:
      'The agent acts with the permissions of that user. Replace the key in its .mcp.json file and revoke it.',
  },
  foreign_ops_key: {
    label: 'Monitoring key',
    tone: 'danger',
    meaning: 'The agent uses a key for monitoring. Replace the key and revoke it.',
  },
  foreign_agent_key: {
    label: 'Key of another agent',
    tone: 'danger',
    meaning: 'The agent acts as another agent. Replace the key in its .mcp.json file.',
  },
  unknown_key: {
    label: 'Invalid key',
    tone: 'warning',
    meaning: 'The key in its .mcp.json file is unknown or revoked. The platform’s tools do not work.',
  },
  shadow_entry: {
    label: 'Duplicate entry',
    tone: 'warning',
    meaning: 'Besides the entry “roost”, another entry uses the same key. The platform’s tools appear twice.',
  },
  not_configured: {
    label: 'Not configured',
    tone: 'warning',
    meaning:
      'No entry of its .mcp.json file points to this platform. The agent has none of the platform’s tools.',
  },
  unavailable: {
    label: 'Check failed',
    tone: 'neutral',
    meaning: 'The container did not respond. Start the agent and try again.',
  },
}
