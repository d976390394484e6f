import { type AgentImages, type AgentRuntime, agentRuntimes } from './port.ts'

export type FakeAgentImages = AgentImages & {
  /** Built images, in order. */
  readonly made: AgentRuntime[]
  /** Makes the next `ensure` of this runtime fail with the error. */
  failNext(runtime: AgentRuntime, error: Error): void
  /** Simulates a changed source: other tags, nothing ready. */
  changeSource(): void
}

/** Images in memory; by default all are ready. */
export function createFakeAgentImages(options: { ready?: readonly AgentRuntime[] } = {}): FakeAgentImages {
  let generation = 1
  const ready = new Set(options.ready ?? agentRuntimes)
  const failures = new Map<AgentRuntime, Error>()
  const made: AgentRuntime[] = []
  return {
    made,
    tagFor(runtime) {
      const version = generation.toString(16).padStart(12, '0')
      return { image: `roost-agent:${runtime}-${version}`, version }
    },
    isReady: async (runtime) => ready.has(runtime),
    async ensure(runtime, onProgress) {
      const failure = failures.get(runtime)
      failures.delete(runtime)
      if (failure) throw failure
      if (ready.has(runtime)) return
      onProgress(`Agent image for ${runtime}: making it`)
      ready.add(runtime)
      made.push(runtime)
    },
    failNext: (runtime, error) => failures.set(runtime, error),
    changeSource() {
      generation += 1
      ready.clear()
    },
  }
}
