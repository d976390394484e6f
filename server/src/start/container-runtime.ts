import { ConfigError } from '../config.ts'
import { ContainerError, type Containers } from '../ports/containers/port.ts'

/**
 * Refuses a `ROOST_CONTAINER_RUNTIME` that the engine does not list, so that no agent starts with a weaker
 * runtime. Throws `ConfigError`. An engine that does not answer is checked when it creates containers.
 */
export async function requireContainerRuntime(
  runtime: string | null,
  containers: Pick<Containers, 'kind' | 'ping' | 'runtimes'>,
): Promise<void> {
  if (runtime === null) return
  const refuse = (message: string) => new ConfigError([{ name: 'ROOST_CONTAINER_RUNTIME', message }])
  if (containers.kind === 'sandbox') throw refuse('must not be set with sandbox:, which has no OCI runtimes')
  try {
    await containers.ping()
  } catch (error) {
    if (error instanceof ContainerError) return
    throw error
  }
  const { listed } = containers.runtimes
  if (listed.includes(runtime)) return
  throw refuse(
    listed.length === 0
      ? 'must not be set: the container engine lists no runtimes'
      : `must be a runtime that the container engine lists: ${listed.join(', ')}`,
  )
}
