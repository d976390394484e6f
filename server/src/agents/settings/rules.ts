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

/** The agent's own MCP tool: names of tools have no hyphens. */
export function toolName(agentName: string): string {
  return `chat_with_${agentName.replaceAll('-', '_')}`
}

/** `minutes` of a timeout, with a fraction where there is one. */
export function minutesOf(seconds: number): number {
  return Math.round((seconds / 60) * 100) / 100
}
