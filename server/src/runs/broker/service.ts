import type { Run } from '@roost/contracts/link/runs'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { runOf } from '../../identity/run-keys/index.ts'
import type { ExecutionRow } from '../executions/index.ts'
import { createHandler, type HandlerDeps } from './handler.ts'
import { createBrokerTokens } from './tokens.ts'

export type BrokerDeps = Omit<HandlerDeps, 'tokens'> & {
  events: Pick<Outbox, 'on'>
  /** Keyed hash of the installation, as text; never the key itself. */
  mac(text: string): string
  /** For tokens of turns that ran while the installation's key was rotated. */
  earlierMacs?(text: string): readonly string[]
  /** Address of `/broker` as seen from a container. */
  brokerUrl(): string
}

export type Broker = {
  /** Serves `/broker/*` on the internal listener. Never rejects. */
  handle: ReturnType<typeof createHandler>['handle']
  /**
   * Address and token for the model traffic of a run. All turns of a conversation share a token, because its
   * process stays alive between them.
   */
  access(row: Pick<ExecutionRow, 'id' | 'agent_id' | 'kind' | 'session_id'>): Run['broker']
  close(): void
}

export function createBroker(deps: BrokerDeps): Broker {
  const tokens = createBrokerTokens(deps.mac, deps.earlierMacs)
  const handler = createHandler({ ...deps, tokens })
  const stopListening = deps.events.on('execution.finished', (event) => {
    const id = event.fields.execution_id
    if (typeof id === 'string') handler.runEnded(id)
  })
  return {
    handle: handler.handle,
    access(row) {
      return { url: deps.brokerUrl(), token: tokens.mint(runOf(row)) }
    },
    close() {
      stopListening()
      handler.close()
    },
  }
}
