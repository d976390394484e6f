import type { AgentKey, AgentKeyCheck } from '@roost/contracts/agents/mcp-key'
import type { Tone } from '../../ui/badge.tsx'

type Words = { label: string; tone: Tone }

export const healthWords: Record<AgentKey['health'], Words> = {
  active: { label: 'In use', tone: 'success' },
  never_used: { label: 'Not used yet', tone: 'neutral' },
  stale: { label: 'Silent for a day', tone: 'warning' },
  env_absent: { label: 'Not in the container', tone: 'danger' },
  env_mismatch: { label: 'Another one in the container', tone: 'warning' },
  missing: { label: 'No key', tone: 'danger' },
  exempt: { label: 'Created at the first start', tone: 'neutral' },
}

/** What was found in the container, with what it means. */
export const verdictWords: Record<AgentKeyCheck['verdict'], Words & { meaning: string }> = {
  ok: { label: 'Its own key', tone: 'success', meaning: 'The agent comes here with its own key.' },
  foreign_user_key: {
    label: 'A person’s key',
    tone: 'danger',
    meaning: 'It acts here with the powers of that person. Replace the key in its .mcp.json, and revoke it.',
  },
  foreign_ops_key: {
    label: 'A monitoring key',
    tone: 'danger',
    meaning: 'It carries a key that was made for monitoring. Replace it, and revoke it.',
  },
  foreign_agent_key: {
    label: 'Another agent’s key',
    tone: 'danger',
    meaning: 'It acts here as another agent. Replace the key in its .mcp.json.',
  },
  unknown_key: {
    label: 'A key that is not valid',
    tone: 'warning',
    meaning: 'The key in its .mcp.json is unknown or revoked: the tools of the platform do not work.',
  },
  shadow_entry: {
    label: 'A second entry',
    tone: 'warning',
    meaning: 'Beside the entry “roost” another one leads here with the same key: its tools appear twice.',
  },
  not_configured: {
    label: 'Not set up',
    tone: 'warning',
    meaning: 'No entry of its .mcp.json leads here: it has no tools of the platform.',
  },
  unavailable: {
    label: 'Could not be looked at',
    tone: 'neutral',
    meaning: 'The container did not answer. Start the agent and look again.',
  },
}
