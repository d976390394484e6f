import type { CreatedAgent } from '@roost/contracts/agents/registry'
import {
  type Claim,
  createdResourceGone,
  type Idempotency,
  type Reply,
  scopeOf,
} from '../../foundation/idempotency/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { isFault } from '../../kit/fault.ts'
import type { AgentRecords } from '../records/index.ts'

export type OnceDeps = {
  agentRecords: Pick<AgentRecords, 'byId'>
  idempotency: Pick<Idempotency, 'once' | 'open'>
}

/**
 * Creates an agent once per idempotency key of a person; repeated requests get the first reply. Throws
 * `created_resource_gone` if that agent was deleted meanwhile.
 */
export function createOnce({ agentRecords, idempotency }: OnceDeps) {
  async function replayed(reply: Reply, name: string) {
    const { resourceId } = reply
    if (resourceId !== undefined && !(await agentRecords.byId(resourceId))) {
      throw createdResourceGone(`The agent "${name}" that this request created was deleted.`)
    }
    return { ...reply, replayed: true }
  }

  return async (
    caller: SignedIn,
    key: string | undefined,
    create: (claim: Pick<Claim, 'take'>) => Promise<CreatedAgent>,
  ) => {
    const scope = scopeOf('agent', caller.user.id, key)
    try {
      const reply = await idempotency.once(scope, async (claim) => ({
        status: 200,
        body: await create(claim),
      }))
      return reply.replayed ? await replayed(reply, nameIn(reply)) : reply
    } catch (error) {
      if (scope === null || !isFault(error, 'agent_exists')) throw error
      // The same request may have created the agent just now.
      const { replay } = await idempotency.open(scope)
      if (!replay) throw error
      return replayed(replay, nameIn(replay))
    }
  }
}

/** The name from the first request; a repeated key with another body changes nothing. */
function nameIn({ body }: Reply): string {
  // Only created agents are stored under this scope.
  return (body as { name: string }).name
}
