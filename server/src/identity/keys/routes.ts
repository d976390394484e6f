import {
  createKey,
  deleteKey,
  ensureDefaultKey,
  getKey,
  listKeys,
  revokeKey,
  validateKey,
} from '@roost/contracts/identity/keys'
import { type Route, signedInRoute } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import type { Keys } from './service.ts'

export function keyRoutes(keys: Keys): Route[] {
  return [
    signedInRoute(createKey, async ({ caller, body, request }) => {
      const created = await keys.create(caller, body)
      request.note({ key_id: created.id, key_name: created.name, key_scope: created.scope })
      return created
    }),
    signedInRoute(listKeys, ({ caller, query }) => keys.list(caller, query)),
    signedInRoute(ensureDefaultKey, async ({ caller, request }) => {
      const created = await keys.ensureDefault(caller)
      request.note({ key_id: created.id, created: created.key !== null })
      return created
    }),
    signedInRoute(getKey, ({ caller, params }) => keys.get(caller, params.id)),
    signedInRoute(revokeKey, async ({ caller, params, request }) => {
      request.note({ key_id: params.id.slice(0, 64) })
      await keys.revoke(caller, params.id)
      return { message: 'The key is revoked.', id: params.id, is_active: false as const }
    }),
    signedInRoute(deleteKey, async ({ caller, params, request }) => {
      request.note({ key_id: params.id.slice(0, 64) })
      await keys.remove(caller, params.id)
      return { message: 'The key is deleted.', id: params.id }
    }),
    signedInRoute(validateKey, async ({ caller }) => {
      if (caller.kind !== 'key') throw new Fault('invalid_token', 'This route takes an MCP key.')
      const { key, user } = caller
      return {
        valid: true as const,
        key_id: key.id,
        key_name: key.name,
        scope: key.scope,
        user_id: user.id,
        // A stranger could read it through a turn.
        user_email: caller.run?.reach === 'guest' ? null : user.email,
        role: user.role,
        agent_name: await keys.agentNameOf(caller),
      }
    }),
  ]
}
