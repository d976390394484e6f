/**
 * Egress: the agents' way out over the platform.
 *
 * Owns the tables of rules, bound credentials, the log and the authority. Promises that the value of a bound
 * credential is on the wire for its hosts alone and comes back to nobody; that a host is looked up once and nothing
 * inner is connected to; that in mode `enforce` what is refused is not even looked up. Off by default: then nothing
 * of it is in an agent's way. Refuses to know what is said in connections that no credential is bound to.
 */
import type { Loop } from '../../background/loops.ts'
import type { Locate } from '../../kit/addresses.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Authority, createAuthority } from './authority.ts'
import { type BoundCredentials, createBoundCredentials } from './bound-credentials.ts'
import { createInterceptor } from './intercept.ts'
import { createPolicies, type PoliciesDeps } from './policies.ts'
import { createProxy, type EgressProxy } from './proxy.ts'
import { createRecord } from './record.ts'
import { createEgressService, type EgressService, type EgressServiceDeps } from './service.ts'
import { egressLogStore } from './store.ts'

export { egressRoutes, internalEgressRoutes } from './routes.ts'
export type { BoundCredentials, EgressProxy }

export type EgressDeps = PoliciesDeps &
  Omit<EgressServiceDeps, 'policies' | 'keeping' | 'authority' | 'clock'> & {
    log: Pick<Log, 'warn' | 'debug'>
    /** For what agents ask for. */
    locate: Locate
  }

export type Egress = EgressService & {
  keeping: BoundCredentials
  proxy: EgressProxy
  authority: Pick<Authority, 'view'>
  readonly loops: Loop[]
  close(): Promise<void>
}

const keptDays = 30

export function createEgress(deps: EgressDeps): Egress {
  const { db, clock, log, locate } = deps
  const policies = createPolicies(deps)
  const keeping = createBoundCredentials({ db, clock, policies })
  const authority = createAuthority(deps)
  const record = createRecord(deps)
  const interceptor = createInterceptor({ authority, log })
  const service = createEgressService({ ...deps, policies, keeping, authority })
  const { admit, policyOf, closesAny } = service
  const proxy = createProxy({ admit, policyOf, locate, interceptor, record, log })
  return {
    ...service,
    keeping,
    proxy,
    authority,
    loops: [
      retention({ db, clock }),
      { name: 'agents.egress-authority', everySeconds: 24 * 3600, run: authority.renew },
      {
        name: 'agents.egress-network',
        everySeconds: 10,
        everywhere: true,
        async run() {
          if (await closesAny()) await deps.openClosed()
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
      const edge = secondsLater(clock.now(), -keptDays * 24 * 3600)
      await egressLogStore(db).removeBefore(timestamp(edge))
    },
  }
}
