import { lookup as systemLookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import type { Config } from '../config.ts'
import { variables } from '../config-variables.ts'
import { createLocate, type Locate, type Lookup } from '../kit/addresses.ts'

/** Where connections to the outside may lead; each of them looks its host up once. */
export type Outward = {
  /** For the one git host: it may be a neighbour when the configuration names it. */
  gitHost: Locate
  /** For what agents ask for: no neighbour but those named by the configuration, and never this machine. */
  agents: Locate
}

export const lookup: Lookup = async (host) =>
  (await systemLookup(host, { all: true })).map(({ address }) => address)

export function createOutward(config: Pick<Config, 'gitBaseUrl' | 'egressInner'>): Outward {
  return {
    gitHost: createLocate({ lookup, mayBeInner: mayGitBeInner(config) }),
    agents: createLocate({
      lookup,
      named: new Map(config.egressInner.map(({ at, address }) => [at, address])),
      isOwn: isOfThisMachine,
    }),
  }
}

/** A host that the configuration names may be a neighbour; the default is none. */
export function mayGitBeInner({ gitBaseUrl }: Pick<Config, 'gitBaseUrl'>): boolean {
  return gitBaseUrl !== variables.gitBaseUrl.default
}

/** Asked anew each time: addresses come and go. */
function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === address))
}
