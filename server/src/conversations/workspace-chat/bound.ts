import type { Endpoint } from '@roost/contracts/kit/endpoint'
import type { z } from 'zod'
import type { Agent } from '../../agents/records/index.ts'
import { type Actor, type Call, type Handled, type Route, route } from '../../http/route.ts'
import type { Principal } from './principal.ts'
import type { WorkspaceChat } from './service.ts'

type AnyEndpoint = Endpoint<z.ZodType, z.ZodType, z.ZodType, z.ZodType>

/** An address without an account has no id that the audit log knows. */
function actorOf({ email, holder, caller }: Principal): Actor {
  return { id: caller.user.id === holder ? null : caller.user.id, email }
}

export type WorkspaceCall<E> = Call<E> & { who: Principal }
export type WorkspaceAgentCall<E> = WorkspaceCall<E> & { agent: Agent }

/**
 * Binds endpoints of the Workspace. The guard lets a Workspace session pass unlooked at: who it belongs to is
 * found here, before anything else, and the agent of the path on that person's roster.
 */
export function createBinding({ principals, roster }: Pick<WorkspaceChat, 'principals' | 'roster'>) {
  async function whoOf<E>(call: Call<E>): Promise<Principal> {
    const who = await principals.of(call.caller, call.request.header('authorization'))
    if (who.tokenHash === null) return who
    call.request.actedBy(actorOf(who))
    // Reads become an audit entry by a note, so only writes have one.
    if (call.request.method !== 'GET') call.request.note({ workspace_email: who.email })
    return who
  }

  return {
    person: <E extends AnyEndpoint | Endpoint<never, never, never, never>>(
      endpoint: E,
      handle: (call: WorkspaceCall<E>) => Promise<Handled<E>>,
    ): Route => route(endpoint, async (call) => handle({ ...call, who: await whoOf(call) })),

    withAgent: <E extends AnyEndpoint | Endpoint<never, never, never, never>>(
      endpoint: E,
      handle: (call: WorkspaceAgentCall<E>) => Promise<Handled<E>>,
    ): Route =>
      route(endpoint, async (call) => {
        const who = await whoOf(call)
        // Every such path names the agent so.
        const { name } = call.params as { name: string }
        return handle({ ...call, who, agent: await roster.find(who, name) })
      }),
  }
}
