import { lookup } from 'node:dns/promises'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import {
  formatPlatformAddress,
  maxPlatformAddresses,
  type PlatformAddress,
  parsePlatformAddress,
} from '@roost/contracts/link/addresses'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'

/** One address to dial. */
export type Target = {
  /** The link's URL there, with the name that the platform knows. */
  url: string
  /** The resolved host. */
  host: string
  port: number
  /** Time limit from connecting to the finished upgrade. */
  handshakeMs: number
}

/**
 * Addresses of the platform's processes: those that the platform named over the link, otherwise those in the
 * container's environment. Only the platform can change them. They survive a restart of the container.
 */
export type Addresses = {
  /** Returns the next address to try. Each round has every address once, in a new random order. */
  next(): Promise<Target>
  /** Records that the link is up there. The next round, which follows the loss of that link, tries it last. */
  reached(target: Target): void
  /** Stores the addresses from an answer of the platform. Answers of 0.1.0 have none. */
  learn(named: readonly unknown[] | undefined): void
  /** True if the platform has named several addresses, or a host name, which may have several. */
  hasSeveral(): boolean
}

export type AddressesDeps = {
  /** The container's `ROOST_LINK_URL`. Its scheme and path apply to all addresses. */
  linkUrl: string
  /** Further addresses in the container's environment. */
  further: readonly PlatformAddress[]
  /** File of the addresses that the platform named. Turns cannot write to its folder. */
  file: string
  clock: Pick<Clock, 'after' | 'random'>
  log: Log
  /** Returns all addresses of a host name. */
  resolve?: (name: string) => Promise<string[]>
}

/** In the first round, a silent address is abandoned soon, because others are left. */
const quickHandshakeMs = 3_000
const handshakeMs = 10_000
const resolveMs = 2_000

export function createAddresses(deps: AddressesDeps): Addresses {
  const { file, clock, log, resolve = resolveAll } = deps
  const link = new URL(deps.linkUrl)
  const own: Host = {
    host: link.hostname.replace(/^\[|\]$/g, ''),
    port: Number(link.port) || (link.protocol === 'wss:' ? 443 : 80),
  }
  let named = read()
  /** True after an answer of a platform that names its addresses. */
  let isNamed = false
  let round: Target[] = []
  let rounds = 0
  let last: Target | null = null

  function read(): PlatformAddress[] | null {
    try {
      return parsed(JSON.parse(readFileSync(file, 'utf8')))
    } catch {
      return null
    }
  }

  function write(addresses: readonly PlatformAddress[]): void {
    try {
      writeFileSync(`${file}.part`, JSON.stringify(addresses.map(formatPlatformAddress)), { mode: 0o600 })
      renameSync(`${file}.part`, file)
    } catch (fault) {
      log.warn('platform addresses not stored', { reason: faultText(fault) })
    }
  }

  /** Always includes the address from the environment, in case all others are wrong. */
  function hosts(): Host[] {
    const all = (named ?? deps.further).map(({ host, port }) => ({ host: host ?? own.host, port }))
    return [...new Map([...all, own].map((each) => [formatPlatformAddress(each), each])).values()]
  }

  async function targetsOf({ host, port }: Host): Promise<Target[]> {
    const url = new URL(link)
    url.host = formatPlatformAddress({ host, port })
    // The parser drops a port that is the scheme's default.
    const found = isIP(host) ? [host] : await timely(resolve(host), [host])
    return found.map((each) => ({ url: url.href, host: each, port, handshakeMs }))
  }

  /** An unresolved name is dialled as it is, and the error names it. */
  function timely(found: Promise<string[]>, otherwise: string[]): Promise<string[]> {
    return new Promise((done) => {
      const cancel = clock.after(resolveMs, () => done(otherwise))
      found
        .then(
          (addresses) => done(addresses.length > 0 ? addresses : otherwise),
          () => done(otherwise),
        )
        .finally(cancel)
    })
  }

  async function nextRound(): Promise<Target[]> {
    const found = shuffled((await Promise.all(hosts().map(targetsOf))).flat(), clock.random)
    const isLast = (each: Target) => each.host === last?.host && each.port === last.port
    const ordered = [...found.filter((each) => !isLast(each)), ...found.filter(isLast)]
    const isQuick = rounds === 0 && ordered.length > 1
    rounds += 1
    return isQuick ? ordered.map((each) => ({ ...each, handshakeMs: quickHandshakeMs })) : ordered
  }

  return {
    async next() {
      if (round.length === 0) round = await nextRound()
      const target = round.shift()
      if (!target) throw new Error('There is no address of the platform.')
      return target
    },
    reached(target) {
      last = target
      round = []
      rounds = 0
    },
    learn(list) {
      isNamed = list !== undefined
      const addresses = parsed(list)
      if (addresses.length === 0 || JSON.stringify(addresses) === JSON.stringify(named)) return
      named = addresses
      write(addresses)
    },
    hasSeveral() {
      const known = hosts()
      return isNamed && (known.length > 1 || known.some(({ host }) => isIP(host) === 0))
    },
  }
}

type Host = { host: string; port: number }

function parsed(list: unknown): PlatformAddress[] {
  if (!Array.isArray(list)) return []
  const addresses = list.map((each) => (typeof each === 'string' ? parsePlatformAddress(each) : null))
  return addresses.filter((each) => each !== null).slice(0, maxPlatformAddresses)
}

async function resolveAll(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address)
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}
