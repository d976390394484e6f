import type { Clock } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Log } from '../log.ts'
import { memoryEphemeral } from './memory.ts'
import type { Ephemeral } from './port.ts'

/**
 * Opens Redis at `url`, or this process's own store without a URL. An unreachable Redis does not prevent the
 * start; it is retried until `close`. The Redis client is loaded only if needed.
 */
export async function openEphemeral(
  url: Secret | null,
  deps: { clock: Clock; log: Log },
): Promise<Ephemeral> {
  if (!url) return memoryEphemeral(deps)
  const { redisEphemeral } = await import('./redis.ts')
  return redisEphemeral(url.reveal(), deps)
}
