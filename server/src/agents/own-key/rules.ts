import type { AgentKey, AgentKeyCheck, keyVerdicts } from '@roost/contracts/agents/mcp-key'
import type { KeyScope } from '@roost/contracts/kit/access'

export type Verdict = (typeof keyVerdicts)[number]
/** What is told of a key that was found. */
export type FoundKey = { id: string; scope: KeyScope; key_prefix: string; revoked_at: string | null }
/** An entry that leads here, with the texts of the keys in it. */
export type Entry = { server_name: string; keys: string[]; usesOwnVariable: boolean }

/** An agent greets with its key at every start; one that did not for so long while it runs has lost it. */
const staleAfterMs = 24 * 3600 * 1000

type KeyNow = { created_at: string; last_used_at: string | null; revoked_at: string | null }
type AgentNow = {
  is_system: boolean
  status: string
  /** Id of the key that the present container was made with; undefined without a container. */
  inContainer: string | null | undefined
  key_id: string | null
}

export function healthOf(
  agent: AgentNow,
  key: KeyNow | null,
  now: Date,
): Pick<AgentKey, 'health' | 'health_detail'> {
  if (agent.is_system) return health('exempt', 'The system agent gets its key with its first start.')
  if (!key || key.revoked_at !== null) return health('missing', 'The agent has no key that works.')
  if (agent.inContainer === null) return health('env_absent', 'The container was made without a key.')
  if (agent.inContainer !== undefined && agent.inContainer !== agent.key_id)
    return health('env_mismatch', 'The container holds another key; the next start brings the present one.')
  if (key.last_used_at === null) return health('never_used', null)
  const silentMs = now.getTime() - Date.parse(key.last_used_at)
  if (agent.status === 'running' && silentMs > staleAfterMs)
    return health('stale', 'The agent runs and has not used its key for a day.')
  return health('active', null)
}

function health(name: AgentKey['health'], health_detail: string | null) {
  return { health: name, health_detail }
}

const keyText = /svc_mcp_[A-Za-z0-9_-]{43}/g
const ownEntry = 'roost'

/** The entries of an `.mcp.json` that lead to this platform; null when it is no such file. */
export function entriesOf(text: string, mcpUrls: readonly string[]): Entry[] | null {
  const servers = serversOf(text)
  if (!servers) return null
  return Object.entries(servers).flatMap(([server_name, server]) => {
    const written = JSON.stringify(server) ?? ''
    const keys = [...new Set(written.match(keyText) ?? [])]
    const usesOwnVariable = written.includes('ROOST_AGENT_KEY')
    const leadsHere = mcpUrls.some((url) => written.includes(JSON.stringify(url).slice(1, -1)))
    const isOurs = server_name === ownEntry || keys.length > 0 || usesOwnVariable || leadsHere
    return isOurs ? [{ server_name, keys, usesOwnVariable }] : []
  })
}

function serversOf(text: string): Record<string, unknown> | null {
  try {
    const file: unknown = JSON.parse(text)
    if (typeof file !== 'object' || file === null || !('mcpServers' in file)) return null
    const { mcpServers } = file
    // Checked just here: an object, whose values are only written out again.
    return typeof mcpServers === 'object' && mcpServers !== null
      ? (mcpServers as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** What one entry carries. `found` answers each key of the entry; null is one that nobody knows. */
export function entryVerdict(
  entry: Entry,
  found: readonly (FoundKey | null)[],
  ownKeyId: string | null,
): AgentKeyCheck['entries'][number] {
  const { server_name } = entry
  const foreign = found.find((key) => key === null || key.revoked_at !== null || key.id !== ownKeyId)
  if (foreign !== undefined) {
    const verdict = foreign === null || foreign.revoked_at !== null ? 'unknown_key' : verdictOfScope(foreign)
    return row(server_name, verdict, foreign)
  }
  const own = found[0] ?? null
  if (!own && !entry.usesOwnVariable) return row(server_name, 'not_configured', null)
  return row(server_name, server_name === ownEntry ? 'ok' : 'shadow_entry', own)
}

function row(server_name: string, verdict: Verdict, key: FoundKey | null) {
  return { server_name, verdict, key_scope: key?.scope ?? null, key_prefix: key?.key_prefix ?? null }
}

function verdictOfScope({ scope }: FoundKey): Verdict {
  switch (scope) {
    case 'agent':
      return 'foreign_agent_key'
    case 'ops':
      return 'foreign_ops_key'
    case 'user':
    case 'system':
    case 'connector':
    case 'portal_delegate':
      return 'foreign_user_key'
  }
}

/** The worst comes first: an agent that acts as a person matters more than one that cannot come here at all. */
const worst: readonly Verdict[] = [
  'foreign_user_key',
  'foreign_ops_key',
  'foreign_agent_key',
  'unknown_key',
  'shadow_entry',
  'not_configured',
  'ok',
]

export function overallVerdict(entries: readonly { verdict: Verdict }[]): Verdict {
  return worst.find((verdict) => entries.some((entry) => entry.verdict === verdict)) ?? 'not_configured'
}
