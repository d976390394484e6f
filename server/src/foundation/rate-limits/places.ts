import { networkOf } from './network.ts'
import type { PlaceRule } from './rules.ts'
import type { RateLimits } from './service.ts'

/** Where a request comes from. `device` is the id of a browser that proved itself for this subject before. */
export type Place = { ip: string; device: string | null }

/**
 * Counts one attempt on a subject. Known devices are counted apart from strangers, so strangers cannot lock them out.
 * An attempt above its own place's limit does not count for the others.
 */
export async function useFromPlace(
  limits: Pick<RateLimits, 'use'>,
  { each, all }: PlaceRule,
  subject: string,
  place: Place,
): Promise<void> {
  await limits.use(each, `${subject}|${placeName(place)}`)
  await limits.use(all, `${subject}|${kindOf(place)}`)
}

/** Resets the counts after a success: those of the place, and those of all places of its kind. */
export async function clearFromPlace(
  limits: Pick<RateLimits, 'clear'>,
  { each, all }: PlaceRule,
  subject: string,
  place: Place,
): Promise<void> {
  await limits.clear(each, `${subject}|${placeName(place)}`)
  await limits.clear(all, `${subject}|${kindOf(place)}`)
}

export function placeName({ ip, device }: Place): string {
  return device === null ? `address:${networkOf(ip)}` : `device:${device}`
}

function kindOf({ device }: Place): string {
  return device === null ? 'strangers' : 'known devices'
}
