/**
 * The images that agents run in, one for each runtime. Adapters: `docker:` (built by the engine from
 * `images/agent/`, or named by the operator), `sandbox:` (a folder with the runtime's CLI), `fake:`.
 */
export type AgentImages = {
  /** What an agent with this runtime is created from now. The version changes whenever its content would. */
  tagFor(runtime: AgentRuntime): AgentImage
  /** True when `tagFor(runtime)` can be started now. Throws `AgentImageError` engine_down. */
  isReady(runtime: AgentRuntime): Promise<boolean>
  /**
   * Builds or fetches what is missing; at once when nothing is. Of several callers, in this process or
   * another, one builds and the rest wait for it. `onProgress` hears plain words, at most about one a second.
   */
  ensure(runtime: AgentRuntime, onProgress: (text: string) => void, signal?: AbortSignal): Promise<void>
}

export type AgentRuntime = 'claude-code' | 'gemini-cli' | 'codex'
/** `version` is 12 hexadecimal digits; `image` is what a `ContainerSpec` names. */
export type AgentImage = { image: string; version: string }

/** In the order in which they are made: the default runtime first. */
export const agentRuntimes: readonly AgentRuntime[] = ['claude-code', 'gemini-cli', 'codex']

/** `message` is a sentence for the operator and says what to do; `fault` is for callers who choose another way. */
export class AgentImageError extends Error {
  readonly fault: 'engine_down' | 'no_base' | 'build_failed' | 'not_found' | 'cancelled'
  constructor(fault: AgentImageError['fault'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'AgentImageError'
    this.fault = fault
  }
}
