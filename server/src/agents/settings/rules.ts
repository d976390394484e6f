import { createHash } from 'node:crypto'
import type { Runtime } from '@roost/contracts/agents/agent'
import {
  defaultReadOnlyConfig,
  type modelSources,
  type ReadOnlyConfig,
} from '@roost/contracts/agents/settings'

/** A stored limit above the ceiling is kept, and clamped when it takes effect. */
export function effectiveParallel(stored: number, ceiling: number): number {
  return Math.max(1, Math.min(stored, ceiling))
}

const families: Record<Runtime, RegExp> = {
  'claude-code': /^(sonnet|opus|haiku|fable|claude-)/i,
  'gemini-cli': /^gemini-/i,
  codex: /^(gpt-|codex)/i,
}

export type ResolvedModel = { resolved_model: string | null; source: (typeof modelSources)[number] }

/**
 * The agent's own model, else its template's, else the platform's when the runtime knows that family, else
 * what the runtime takes by itself (null).
 */
export function resolveModel(
  agent: { runtime: Runtime; runtime_model: string | null; template_model: string | null },
  platformModel: string | null,
): ResolvedModel {
  if (agent.runtime_model) return { resolved_model: agent.runtime_model, source: 'agent' }
  if (agent.template_model) return { resolved_model: agent.template_model, source: 'template' }
  if (platformModel && families[agent.runtime].test(platformModel)) {
    return { resolved_model: platformModel, source: 'platform' }
  }
  return { resolved_model: null, source: 'runtime' }
}

export function readOnlyConfigOf(agent: { read_only_config: ReadOnlyConfig | null }): ReadOnlyConfig {
  return agent.read_only_config ?? defaultReadOnlyConfig
}

/** Tools of the platform that begin like those of single agents. */
const builtInSlugs = ['agent']
const longestSlug = 48

/**
 * The MCP tools of agents by the agents' ids. A slug that an older agent or the platform has already gets six
 * characters that stay the same for as long as the agent does.
 */
export function toolNames(
  agents: readonly { id: string; name: string; created: string }[],
): ReadonlyMap<string, string> {
  const taken = new Set(builtInSlugs)
  const oldestFirst = agents.toSorted((a, b) => compare(a.created, b.created) || compare(a.id, b.id))
  return new Map(
    oldestFirst.map(({ id, name }) => {
      const short = name
        .toLowerCase()
        .replaceAll(/[^a-z0-9_]/g, '_')
        .slice(0, longestSlug)
      const slug = taken.has(short) ? `${short}_${hashOf(id)}` : short
      taken.add(slug)
      return [id, `chat_with_${slug}`]
    }),
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 6)
}

/** `minutes` of a timeout, with a fraction where there is one. */
export function minutesOf(seconds: number): number {
  return Math.round((seconds / 60) * 100) / 100
}
