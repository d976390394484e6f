import type { AgentKey, AgentKeyCheck, keyVerdicts } from '@roost/contracts/agents/mcp-key'
import type { KeyScope } from '@roost/contracts/kit/access'

export type Verdict = (typeof keyVerdicts)[number]
/** The reported properties of a key that was found. */
export type FoundKey = { id: string; scope: KeyScope; key_prefix: string; revoked_at: string | null }
/** An MCP server entry for this platform, with the keys it contains. */
export type Entry = { server_name: string; keys: string[]; usesOwnVariable: boolean }

/** Agents use their key at every start; a running agent that has not used it for this long has lost it. */
const staleAfterMs = 24 * 3600 * 1000

type KeyState = { created_at: string; last_used_at: string | null; revoked_at: string | null }
type AgentState = {
  is_system: boolean
  status: string
  /** Id of the key that the current container was created with; undefined without a container. */
  inContainer: string | null | undefined
  key_id: string | null
}

export function healthOf(
  agent: AgentState,
  key: KeyState | null,
  now: Date,
): Pick<AgentKey, 'health' | 'health_detail'> {
  if (agent.is_system) return health('exempt', 'The system agent gets its key at its first start.')
  if (!key || key.revoked_at !== null) return health('missing', 'The agent has no valid key.')
  if (agent.inContainer === null) return health('env_absent', 'The container was created without a key.')
  if (agent.inContainer !== undefined && agent.inContainer !== agent.key_id)
    return health('env_mismatch', 'The container has an old key. The next start provides the current one.')
  if (key.last_used_at === null) return health('never_used', null)
  const unusedMs = now.getTime() - Date.parse(key.last_used_at)
  if (agent.status === 'running' && unusedMs > staleAfterMs)
    return health('stale', 'The agent is running but has not used its key for a day.')
  return health('active', null)
}

function health(name: AgentKey['health'], health_detail: string | null) {
  return { health: name, health_detail }
}

const keyText = /svc_mcp_[A-Za-z0-9_-]{43}/g
const ownEntry = 'roost'

/** The entries of an `.mcp.json` for this platform; null if the file is invalid. */
export function entriesOf(text: string, mcpUrls: readonly string[]): Entry[] | null {
  const servers = serversOf(text)
  if (!servers) return null
  return Object.entries(servers).flatMap(([server_name, server]) => {
    const serialized = JSON.stringify(server) ?? ''
    const keys = [...new Set(serialized.match(keyText) ?? [])]
    // The second one holds the key of the current run, the first one none.
    const usesOwnVariable = /ROOST_(AGENT|MCP)_KEY/.test(serialized)
    const pointsHere = mcpUrls.some((url) => serialized.includes(JSON.stringify(url).slice(1, -1)))
    const isForPlatform = server_name === ownEntry || keys.length > 0 || usesOwnVariable || pointsHere
    return isForPlatform ? [{ server_name, keys, usesOwnVariable }] : []
  })
}

function serversOf(text: string): Record<string, unknown> | null {
  try {
    const file: unknown = JSON.parse(text)
    if (typeof file !== 'object' || file === null || !('mcpServers' in file)) return null
    const { mcpServers } = file
    // The cast is safe: the value is an object, and its values are only serialized.
    return typeof mcpServers === 'object' && mcpServers !== null
      ? (mcpServers as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** The verdict for one entry. `found` contains the result for each of its keys; null is an unknown key. */
export function entryVerdict(
  entry: Entry,
  found: readonly (FoundKey | null)[],
  ownKeyId: string | null,
): AgentKeyCheck['entries'][number] {
  const { server_name } = entry
  const foreign = found.find((key) => key === null || key.revoked_at !== null || key.id !== ownKeyId)
  if (foreign !== undefined) {
    const verdict = foreign === null || foreign.revoked_at !== null ? 'unknown_key' : verdictOfScope(foreign)
    return entryRow(server_name, verdict, foreign)
  }
  const own = found[0] ?? null
  if (!own && !entry.usesOwnVariable) return entryRow(server_name, 'not_configured', null)
  return entryRow(server_name, server_name === ownEntry ? 'ok' : 'shadow_entry', own)
}

function entryRow(server_name: string, verdict: Verdict, key: FoundKey | null) {
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

/** Worst first: an agent acting as a person matters more than one that cannot connect. */
const worstFirst: readonly Verdict[] = [
  'foreign_user_key',
  'foreign_ops_key',
  'foreign_agent_key',
  'unknown_key',
  'shadow_entry',
  'not_configured',
  'ok',
]

export function overallVerdict(entries: readonly { verdict: Verdict }[]): Verdict {
  return worstFirst.find((verdict) => entries.some((entry) => entry.verdict === verdict)) ?? 'not_configured'
}
