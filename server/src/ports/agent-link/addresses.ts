import { parsePlatformAddress } from '@roost/contracts/link/addresses'
import { z } from 'zod'
import type { Clock } from '../../kit/clock.ts'
import { type Ephemeral, EphemeralDown } from '../ephemeral/port.ts'
import type { Log } from '../log.ts'

/** Where agents reach the processes of the platform, this one and others. */
export type KnownAddresses = {
  /** Own addresses first, then those of other processes in alphabetical order. */
  list(): string[]
  /** Publishes the own addresses and reads the others'. Never throws; without the store the list stays. */
  refresh(): Promise<void>
}

const key = 'platform-addresses'
/** A process that restarts keeps its address, and agents lose no time with one that does not come back. */
const rememberSeconds = 600

const Seen = z.record(z.string(), z.number())

/**
 * Shares the addresses as one value: address → milliseconds since the epoch. Concurrent writers may lose an entry of
 * each other until the next refresh; readers remember it meanwhile.
 */
export function createKnownAddresses(deps: {
  ephemeral: Pick<Ephemeral, 'get' | 'put'>
  own(): readonly string[]
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'error'>
}): KnownAddresses {
  const { ephemeral, own, clock, log } = deps
  let seen = new Map<string, number>()

  async function exchange(): Promise<void> {
    const shared = parse(await ephemeral.get(key))
    const now = clock.now().getTime()
    const all = new Map(seen)
    // The clock of another machine may be ahead.
    for (const [address, at] of shared) all.set(address, Math.max(all.get(address) ?? 0, Math.min(at, now)))
    for (const address of own()) all.set(address, now)
    seen = new Map([...all].filter(([, at]) => at > now - rememberSeconds * 1000))
    await ephemeral.put(key, JSON.stringify(Object.fromEntries(seen)), rememberSeconds)
  }

  return {
    list() {
      const first = [...new Set(own())]
      return [...first, ...[...seen.keys()].filter((each) => !first.includes(each)).sort()]
    },
    refresh: () =>
      exchange().catch((error: unknown) => {
        if (!(error instanceof EphemeralDown)) log.error({ err: error }, 'platform addresses not exchanged')
      }),
  }
}

function parse(text: string | null): [string, number][] {
  try {
    const result = Seen.safeParse(JSON.parse(text ?? '{}'))
    return Object.entries(result.data ?? {}).filter(([address]) => parsePlatformAddress(address))
  } catch {
    return []
  }
}
