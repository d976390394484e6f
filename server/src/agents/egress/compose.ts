import type { Loop } from '../../background/loops.ts'
import type { Locate } from '../../kit/addresses.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Authority, createAuthority } from './authority.ts'
import { type BoundCredentials, createBoundCredentials } from './bound-credentials.ts'
import { createInnerNetworks, type InnerNetworkDeps, type InnerNetworkFilter } from './inner-networks.ts'
import { createInterceptor } from './intercept.ts'
import { createPolicies, type PoliciesDeps } from './policies.ts'
import { createProxy, type EgressProxy } from './proxy.ts'
import { createRecord } from './record.ts'
import { createEgressService, type EgressService, type EgressServiceDeps } from './service.ts'
import { egressLogStore } from './store.ts'

export type EgressDeps = PoliciesDeps &
  Omit<EgressServiceDeps, 'policies' | 'boundCredentials' | 'authority' | 'clock' | 'containers'> &
  Omit<InnerNetworkDeps, 'containers'> & {
    containers: EgressServiceDeps['containers'] & InnerNetworkDeps['containers']
    log: Pick<Log, 'warn' | 'debug'>
    /** Resolves and checks the hosts that agents request. */
    locate: Locate
  }

export type Egress = EgressService & {
  boundCredentials: BoundCredentials
  innerNetworks: InnerNetworkFilter
  proxy: EgressProxy
  authority: Pick<Authority, 'view'>
  readonly loops: Loop[]
  close(): Promise<void>
}

const logRetentionDays = 30

/** Wires the parts of the feature. */
export function createEgress(deps: EgressDeps): Egress {
  const { db, clock, log } = deps
  const policies = createPolicies(deps)
  const boundCredentials = createBoundCredentials({ db, clock, policies })
  const authority = createAuthority(deps)
  const record = createRecord(deps)
  const interceptor = createInterceptor({ authority, log })
  const service = createEgressService({ ...deps, policies, boundCredentials, authority })
  const { admit, policyOf, closesAny } = service
  const innerNetworks = createInnerNetworks(deps)
  const locate: Locate = (host, port) => deps.locate(host, port, innerNetworks.isOpened)
  const proxy = createProxy({ admit, policyOf, locate, interceptor, record, log })
  return {
    ...service,
    boundCredentials,
    innerNetworks,
    proxy,
    authority,
    loops: [
      retention({ db, clock }),
      { name: 'agents.egress-authority', everySeconds: 24 * 3600, run: authority.renew },
      innerNetworks.loop,
      {
        name: 'agents.egress-network',
        everySeconds: 10,
        everywhere: true,
        async run() {
          if (await closesAny()) await deps.openClosedNetwork()
        },
      },
    ],
    close: proxy.close,
  }
}

function retention({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }): Loop {
  return {
    name: 'agents.egress-retention',
    everySeconds: 3600,
    async run() {
      const edge = secondsLater(clock.now(), -logRetentionDays * 24 * 3600)
      await egressLogStore(db).removeBefore(timestamp(edge))
    },
  }
}
