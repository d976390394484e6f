import type { Clock } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Log } from '../log.ts'
import { memoryEphemeral } from './memory.ts'
import type { Ephemeral } from './port.ts'
import { redisEphemeral } from './redis.ts'

/**
 * Opens Redis at `url`, or the store of this process when there is none. A Redis that is away is no reason
 * not to start: it is looked for until `close`.
 */
export function openEphemeral(url: Secret | null, deps: { clock: Clock; log: Log }): Ephemeral {
  return url ? redisEphemeral(url.reveal(), deps) : memoryEphemeral(deps)
}
