import type { FastifyInstance } from 'fastify'
import { createGuard } from '../http/guard.ts'
import { createInternalCredentials } from '../http/internal-credentials.ts'
import type { Route } from '../http/route.ts'
import { createServer } from '../http/serve.ts'
import { type Relation, refuseAfter, refuseBefore, type SignedIn } from '../identity/access/index.ts'
import { Fault } from '../kit/fault.ts'
import { secret } from '../kit/secret.ts'
import { silentLog } from '../ports/log.ts'

/** Callers by bearer token, each with its relation to the one agent. */
export type Callers = Record<string, { caller: SignedIn; relation: Relation | null }>

/** Routes behind the real web layer, for one agent `scout`. Responses are checked against their schemas. */
export function routesApp(routes: Route[], callers: Callers, agentId = 'a1'): FastifyInstance {
  const of = (caller: unknown) => Object.values(callers).find((each) => each.caller === caller)
  return createServer({
    routes,
    log: silentLog,
    // Lets tests choose the client address.
    trustedProxies: ['127.0.0.1'],
    checkReplies: true,
    guard: createGuard({
      async identify(authorization) {
        const known = callers[(authorization ?? '').replace('Bearer ', '')]
        if (!known) throw new Fault('not_authenticated')
        return known.caller
      },
      async agentAccess(caller, name) {
        const relation = of(caller)?.relation
        if (name !== 'scout' || !relation) return null
        const agent = { id: agentId, name: 'scout', owner_id: 'u-owner', is_system: false }
        return { agent, relation, mayWrite: true }
      },
      internal: createInternalCredentials({ secret: secret('platform'), metricsToken: null }),
      refuseBefore,
      refuseAfter,
    }),
  })
}

export function as(name: string, headers: Record<string, string> = {}) {
  return { authorization: `Bearer ${name}`, ...headers }
}
