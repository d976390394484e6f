import type { Containers } from '../../ports/containers/port.ts'

/** The identity of the engine behind an adapter, asked once. */
export type EngineIdentity = {
  /** Throws `ContainerError` engine_down while it is unknown and the engine does not answer. */
  read(): Promise<string>
  /** Null until the engine has answered once. */
  known(): string | null
}

export function createEngineIdentity(containers: Pick<Containers, 'ping'>): EngineIdentity {
  let id: string | null = null
  return {
    async read() {
      id ??= (await containers.ping()).id
      return id
    },
    known: () => id,
  }
}
