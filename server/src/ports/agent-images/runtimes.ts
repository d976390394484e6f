import type { AgentRuntime } from './port.ts'

export type RuntimePackage = { package: string; version: string; command: string }

/**
 * The npm package of each runtime's CLI. Pinned: what a CLI prints changes between versions, and the
 * agent program reads exactly these.
 */
export const runtimePackages: Record<AgentRuntime, RuntimePackage> = {
  'claude-code': { package: '@anthropic-ai/claude-code', version: '2.1.329', command: 'claude' },
  'gemini-cli': { package: '@google/gemini-cli', version: '0.61.0', command: 'gemini' },
  codex: { package: '@openai/codex', version: '0.169.0', command: 'codex' },
}
