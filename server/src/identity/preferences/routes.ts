import {
  deletePreference,
  getPreference,
  listPreferences,
  putPreference,
} from '@roost/contracts/identity/preferences'
import { type Route, signedInRoute } from '../../http/route.ts'
import type { Preferences } from './service.ts'

export function preferenceRoutes(preferences: Preferences): Route[] {
  return [
    signedInRoute(listPreferences, ({ caller }) => preferences.list(caller.user.id)),
    signedInRoute(getPreference, ({ caller, params }) => preferences.get(caller.user.id, params.key)),
    signedInRoute(putPreference, ({ caller, params, body, request }) => {
      request.note({ key: params.key })
      const { value, base_updated_at } = body
      return preferences.put(caller.user.id, params.key, { value, base: base_updated_at ?? null })
    }),
    signedInRoute(deletePreference, async ({ caller, params, request }) => {
      request.note({ key: params.key.slice(0, 128) })
      await preferences.remove(caller.user.id, params.key)
      return { message: 'The preference is deleted.', key: params.key }
    }),
  ]
}
