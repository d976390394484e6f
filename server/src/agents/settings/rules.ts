import { createHash } from 'node:crypto'
import type { Runtime } from '@roost/contracts/agents/agent'
import {
  defaultReadOnlyConfig,
  type modelSources,
  type ReadOnlyConfig,
} from '@roost/contracts/agents/settings'

/** A stored limit above the ceiling stays stored and is clamped when used. */
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
 * The agent's own model, else its template's, else the platform's if the runtime supports that family, else
 * the runtime's default (null).
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

/** Platform tools with the same prefix as agent tools. */
const builtInSlugs = ['agent']
const maxSlugLength = 48

/**
 * MCP tool names by agent id. If an older agent or the platform has the slug, six characters derived from the
 * agent's id are appended.
 */
export function toolNames(
  agents: readonly { id: string; name: string; created: string }[],
): ReadonlyMap<string, string> {
  const used = new Set(builtInSlugs)
  const oldestFirst = agents.toSorted((a, b) => compare(a.created, b.created) || compare(a.id, b.id))
  return new Map(
    oldestFirst.map(({ id, name }) => {
      const short = name
        .toLowerCase()
        .replaceAll(/[^a-z0-9_]/g, '_')
        .slice(0, maxSlugLength)
      const slug = used.has(short) ? `${short}_${hashOf(id)}` : short
      used.add(slug)
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

/** Timeout in minutes, rounded to two decimals. */
export function minutesOf(seconds: number): number {
  return Math.round((seconds / 60) * 100) / 100
}
