import type { AgentsArea } from './agents/area.ts'
import type { Loop } from './background/loops.ts'
import type { Audit } from './foundation/audit/index.ts'
import type { Leases } from './foundation/leases/index.ts'
import type { Outbox } from './foundation/outbox/index.ts'
import type { AccessRevocation } from './http/access-revocation.ts'
import type { Guard } from './http/guard.ts'
import type { Route } from './http/route.ts'
import type { SocketRoute } from './http/sockets.ts'
import type { Identify } from './identity/access/index.ts'
import type { OperationsArea } from './operations/area.ts'
import type { Sockets } from './operations/sockets/index.ts'
import type { AgentLinkHub } from './ports/agent-link/hub.ts'
import type { Broker } from './runs/broker/index.ts'

/** Everything that an API process serves. */
export type Composition = {
  outbox: Outbox
  leases: Leases
  audit: Audit
  guard: Guard
  /** Ends responses to callers who lose access to an agent meanwhile. */
  accessRevocation: AccessRevocation
  identify: Identify
  setupCompleted(): Promise<boolean>
  routes: Route[]
  /** For other processes of the platform on this machine. */
  internalRoutes: Route[]
  /** Socket paths of the public listener. */
  socketRoutes: SocketRoute[]
  sockets: Pick<Sockets, 'close'>
  loops: Loop[]
  engine: AgentsArea['engine']
  hub: AgentLinkHub
  broker: Broker
  gitTransfers: AgentsArea['gitTransfers']
  egress: AgentsArea['egress']
  /** Records the latency of a request for the metrics. */
  observed: OperationsArea['observed']
  version: string
  /** Follows the engine's events and accepts links; call when the relay runs. */
  open(): Promise<void>
  close(): Promise<void>
}
