import type { AgentKey, AgentKeyCheck } from '@roost/contracts/agents/mcp-key'
import type { Keys } from '../../identity/keys/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import type { Lifecycle } from '../lifecycle/index.ts'
import type { Agent } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { type ReplaceKeyDeps, replaceKey } from './replace.ts'
import { entriesOf, entryVerdict, healthOf, overallVerdict } from './rules.ts'

export type OwnKeyDeps = ReplaceKeyDeps & {
  clock: Pick<Clock, 'now'>
  keys: Pick<Keys, 'summary' | 'findByText'>
  lifecycle: Pick<Lifecycle, 'renew'>
  ask: CallAgent
  mcpUrl(): string
  /** Limits how often a container is inspected. */
  limitVerify(agentId: string): Promise<void>
}

export type RenewedKey = {
  key_id: string
  key_prefix: string
  delivery: 'recreated' | 'next_start'
  superseded_key_id: string | null
}

/**
 * The key that an agent uses for the platform: its health, its state in the container, and its replacement.
 */
export type OwnKey = {
  health(agent: Agent): Promise<AgentKey>
  /** An unreachable agent is a verdict, not an error. Throws `rate_limited`. */
  verify(agent: Agent, signal: AbortSignal): Promise<AgentKeyCheck>
  /**
   * The old key stops working immediately. Throws `system_agent_protected`, `agent_busy`,
   * `container_engine_error`.
   */
  regenerate(agent: Agent): Promise<RenewedKey>
}

const configPath = '/home/developer/.mcp.json'
/** MCP clients do not read larger files. */
const maxConfigBytes = 256 * 1024

export function createOwnKey(deps: OwnKeyDeps): OwnKey {
  const { clock, keys, lifecycle, ask } = deps

  async function configOf(agent: Agent, signal: AbortSignal): Promise<string | null> {
    try {
      const request = { path: configPath, offset: 0, length: maxConfigBytes }
      const { data_base64 } = await ask(agent, 'fs.read', request, signal)
      return Buffer.from(data_base64, 'base64').toString('utf8')
    } catch (error) {
      if (error instanceof LinkFault && error.code === 'file_not_found') return null
      throw error
    }
  }

  async function entries(agent: Agent, config: string): Promise<AgentKeyCheck['entries'] | null> {
    const found = entriesOf(config, [deps.mcpUrl()])
    if (!found) return null
    return Promise.all(
      found.map(async (entry) =>
        entryVerdict(entry, await Promise.all(entry.keys.map(keys.findByText)), agent.agent_key_id),
      ),
    )
  }

  return {
    async health(agent) {
      const key = agent.agent_key_id === null ? null : await keys.summary(agent.agent_key_id)
      const inContainer = agent.applied?.agent_key_id
      return {
        agent_name: agent.name,
        exists: key !== null,
        key_id: key?.id ?? null,
        key_prefix: key?.key_prefix ?? null,
        scope: key?.scope ?? null,
        created_at: key?.created_at ?? null,
        last_used_at: key?.last_used_at ?? null,
        usage_count: key?.usage_count ?? 0,
        ...healthOf({ ...agent, key_id: agent.agent_key_id, inContainer }, key, clock.now()),
        rotatable: !agent.is_system,
      }
    },

    async verify(agent, signal) {
      await deps.limitVerify(agent.id)
      const answer = (verdict: AgentKeyCheck['verdict'], message: string | null) => ({
        agent_name: agent.name,
        verdict,
        message,
        entries: [],
      })
      try {
        const config = await configOf(agent, signal)
        if (config === null) return answer('not_configured', 'The workspace has no .mcp.json file.')
        const found = await entries(agent, config)
        if (!found) return answer('not_configured', 'The .mcp.json file in the workspace is invalid.')
        return { ...answer(overallVerdict(found), null), entries: found }
      } catch (error) {
        if (isFault(error, 'agent_stopped', 'agent_unresponsive')) return answer('unavailable', error.message)
        if (error instanceof LinkFault) return answer('unavailable', 'The workspace cannot be read.')
        throw error
      }
    },

    async regenerate(agent) {
      if (agent.is_system) throw new Fault('system_agent_protected')
      const attempts: { id: string; superseded: string | null }[] = []
      const delivery = await lifecycle.renew(agent.id, async (tx, now) => {
        // The transaction may be retried; the last attempt counts.
        attempts.push({ id: await replaceKey(deps, tx, now), superseded: now.agent_key_id })
      })
      const last = attempts.at(-1)
      const facts = last && (await keys.summary(last.id))
      if (!last || !facts) throw new Fault('agent_not_found')
      return { key_id: last.id, key_prefix: facts.key_prefix, delivery, superseded_key_id: last.superseded }
    },
  }
}
