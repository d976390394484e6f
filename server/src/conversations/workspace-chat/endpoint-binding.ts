import type { Endpoint } from '@roost/contracts/kit/endpoint'
import type { z } from 'zod'
import type { Agent } from '../../agents/records/index.ts'
import {
  type Actor,
  type Call,
  type Handled,
  type Route,
  route,
  type UnreadRequest,
} from '../../http/route.ts'
import { accountIdOf, type Principal } from './principal.ts'
import type { WorkspaceChat } from './service.ts'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType>

/** An address without an account has no id for the audit log. */
function actorOf(principal: Principal): Actor {
  return { id: accountIdOf(principal), email: principal.email }
}

export type WorkspaceCall<E> = Call<E> & { principal: Principal }
export type WorkspaceAgentCall<E> = WorkspaceCall<E> & { agent: Agent }

/**
 * Binds Workspace endpoints. The guard passes Workspace sessions unchecked, so this code first resolves the person, and
 * then the path's agent on that person's roster.
 */
export function createBinding({ principals, roster }: Pick<WorkspaceChat, 'principals' | 'roster'>) {
  async function principalOf<E>(call: Call<E>): Promise<Principal> {
    const principal = await principals.of(call.caller, call.request.header('authorization'))
    if (principal.tokenHash === null) return principal
    call.request.actedBy(actorOf(principal))
    // A note adds an audit entry, so reads get none.
    if (call.request.method !== 'GET') call.request.note({ workspace_email: principal.email })
    return principal
  }

  /** Refuses a body of somebody without a session before it is read. Other requests are checked once, by the handler. */
  const admitting = ({ body }: { body?: unknown }) =>
    body === undefined
      ? {}
      : { admit: ({ caller, authorization }: UnreadRequest) => principals.of(caller, authorization) }

  return {
    person: <E extends AnyEndpoint | Endpoint<never, never, never, never>>(
      endpoint: E,
      handle: (call: WorkspaceCall<E>) => Promise<Handled<E>>,
    ): Route =>
      route(
        endpoint,
        async (call) => handle({ ...call, principal: await principalOf(call) }),
        admitting(endpoint),
      ),

    withAgent: <E extends AnyEndpoint | Endpoint<never, never, never, never>>(
      endpoint: E,
      handle: (call: WorkspaceAgentCall<E>) => Promise<Handled<E>>,
    ): Route =>
      route(
        endpoint,
        async (call) => {
          const principal = await principalOf(call)
          // Every such path has this parameter.
          const { name } = call.params as { name: string }
          return handle({ ...call, principal, agent: await roster.find(principal, name) })
        },
        admitting(endpoint),
      ),
  }
}
