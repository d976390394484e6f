/**
 * Broker: the way of a run's model traffic to the provider.
 *
 * A container holds a token that is worth something only here and only while its run is running. The broker
 * puts the platform's key on the wire, streams both ways without holding anything back, counts tokens and
 * cost onto the execution, and refuses in the provider's own form. It never writes a body anywhere. Refuses
 * to know what a run is about.
 */
import type { Run } from '@roost/contracts/link/runs'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { ExecutionRow } from '../executions/index.ts'
import { createHandler, type HandlerDeps } from './handler.ts'
import { createBrokerTokens } from './tokens.ts'

export type { Provider } from './provider-rules.ts'

export type BrokerDeps = Omit<HandlerDeps, 'tokens'> & {
  events: Pick<Outbox, 'on'>
  /** Keyed hash of the installation, as text; never the key itself. */
  mac(text: string): string
  /** The address of `/broker` as a container reaches it. */
  brokerUrl(): string
}

export type Broker = {
  /** Serves `/broker/*` on the internal listener. Never rejects. */
  handle: ReturnType<typeof createHandler>['handle']
  /** What a run is handed for its model traffic: a conversation's process lives on from turn to turn. */
  access(row: Pick<ExecutionRow, 'id' | 'agent_id' | 'kind' | 'session_id'>): Run['broker']
  close(): void
}

export function createBroker(deps: BrokerDeps): Broker {
  const tokens = createBrokerTokens(deps.mac)
  const handler = createHandler({ ...deps, tokens })
  const stopListening = deps.events.on('execution.finished', (event) => {
    const id = event.fields.execution_id
    if (typeof id === 'string') handler.runEnded(id)
  })
  return {
    handle: handler.handle,
    access(row) {
      const isTurn = row.kind === 'chat' && row.session_id !== null
      const token = tokens.mint({
        agentId: row.agent_id,
        kind: isTurn ? 'session' : 'execution',
        id: isTurn && row.session_id !== null ? row.session_id : row.id,
      })
      return { url: deps.brokerUrl(), token }
    },
    close() {
      stopListening()
      handler.close()
    },
  }
}
