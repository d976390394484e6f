/**
 * The images that agents run in, one per runtime. Adapters: `docker:` (built by the engine from
 * `images/agent/`, or named by the operator), `sandbox:` (a folder with the runtime's CLI), `fake:`.
 */
export type AgentImages = {
  /** The current image of new agents with this runtime. The version changes whenever its content would. */
  tagFor(runtime: AgentRuntime): AgentImage
  /** True when `tagFor(runtime)` can be started now. Throws `AgentImageError` engine_down. */
  isReady(runtime: AgentRuntime): Promise<boolean>
  /**
   * Builds or pulls a missing image; returns immediately otherwise. Of concurrent callers, in any process,
   * one builds and the others wait. `onProgress` receives sentences, at most about one per second.
   */
  ensure(runtime: AgentRuntime, onProgress: (text: string) => void, signal?: AbortSignal): Promise<void>
}

export type AgentRuntime = 'claude-code' | 'gemini-cli' | 'codex'
/** `version` is 12 hexadecimal digits; `image` is the name in a `ContainerSpec`. */
export type AgentImage = { image: string; version: string }

/** In build order: the default runtime first. */
export const agentRuntimes: readonly AgentRuntime[] = ['claude-code', 'gemini-cli', 'codex']

/** `message` tells the operator what to do; `fault` is for callers with an alternative. */
export class AgentImageError extends Error {
  readonly fault: 'engine_down' | 'no_base' | 'build_failed' | 'not_found' | 'cancelled'
  constructor(fault: AgentImageError['fault'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'AgentImageError'
    this.fault = fault
  }
}
