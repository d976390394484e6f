import type { Clock } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Log } from '../log.ts'
import { memoryEphemeral } from './memory.ts'
import type { Ephemeral } from './port.ts'

/**
 * Opens Redis at `url`, or the store of this process when there is none. A Redis that is away is no reason
 * not to start: it is looked for until `close`. Its client is read only where there is one.
 */
export async function openEphemeral(
  url: Secret | null,
  deps: { clock: Clock; log: Log },
): Promise<Ephemeral> {
  if (!url) return memoryEphemeral(deps)
  const { redisEphemeral } = await import('./redis.ts')
  return redisEphemeral(url.reveal(), deps)
}
