import type { CreateAgent } from '@roost/contracts/agents/registry'
import { type Idempotency, scopeOf } from '../../foundation/idempotency/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { isFault } from '../../kit/fault.ts'
import type { Registry } from './registry.ts'

export type OnceDeps = {
  registry: Pick<Registry, 'create'>
  idempotency: Pick<Idempotency, 'once' | 'open'>
}

/** A creation once for each key of a person: the same key again gets the first reply. */
export function createOnce({ registry, idempotency }: OnceDeps) {
  return async (caller: SignedIn, body: CreateAgent, key: string | undefined) => {
    const scope = scopeOf('agent', caller.user.id, key)
    try {
      return await idempotency.once(scope, async (claim) => ({
        status: 200,
        body: await registry.create(caller, body, claim),
      }))
    } catch (error) {
      if (scope === null || !isFault(error, 'agent_exists')) throw error
      // The name may have been taken a moment ago by the same request.
      const { replay } = await idempotency.open(scope)
      if (!replay) throw error
      return { ...replay, replayed: true }
    }
  }
}
