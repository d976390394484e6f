import { cpuChoices, type Resources } from '@roost/contracts/agents/agent'
import * as endpoints from '@roost/contracts/foundation/settings'
import { type Route, route, signedInRoute } from '../../http/route.ts'
import type { Settings } from './service.ts'

/** Static paths are matched before `{key}`, whatever the order here. */
export function settingsRoutes(settings: Settings): Route[] {
  return [
    route(endpoints.listSettings, async () => settings.list()),
    route(endpoints.getSetting, async ({ params }) => settings.get(params.key)),
    route(endpoints.putSetting, async ({ params, body, request }) => {
      request.note({ key: params.key })
      return settings.put(params.key, body.value)
    }),
    route(endpoints.deleteSetting, async ({ params, request }) => {
      request.note({ key: params.key.slice(0, 128) })
      await settings.remove(params.key)
      return { message: 'The setting was reset to its default.', key: params.key }
    }),

    signedInRoute(endpoints.getFeatureFlags, async () => settings.featureFlags()),

    route(endpoints.getOpsConfig, async () => ({ settings: settings.opsConfig() })),
    route(endpoints.putOpsConfig, async ({ body, request }) => {
      const { updated, ignored } = await settings.putOps(body.settings)
      request.note({ updated })
      return { success: true as const, updated, ignored }
    }),
    route(endpoints.resetOps, async () => {
      const { reset, skipped } = await settings.resetOps()
      const message = `${reset.length} settings were reset to their defaults. Retention windows were not changed.`
      return { success: true as const, message, reset, skipped }
    }),

    signedInRoute(endpoints.getMaxParallelTasksCeiling, async () => settings.ceiling()),
    route(endpoints.putMaxParallelTasksCeiling, async ({ body, request }) => {
      request.note({ value: body.value })
      await settings.putCeiling(body.value)
      return settings.ceiling()
    }),

    route(endpoints.getAgentDefaultResources, async () => resourcesReply(settings.defaultResources())),
    route(endpoints.putAgentDefaultResources, async ({ body, request }) => {
      const resources = { cpu: body.cpu ?? undefined, memory: body.memory ?? undefined }
      request.note(resources)
      await settings.putDefaultResources(resources)
      return resourcesReply(settings.defaultResources())
    }),

    route(endpoints.listProviderKeys, async () => ({ providers: settings.providerKeys.list() })),
    route(endpoints.putProviderKey, async ({ params, body, request }) => {
      request.note({ provider: params.provider })
      return settings.providerKeys.put(params.provider, body.api_key)
    }),
    route(endpoints.deleteProviderKey, async ({ params, request }) => {
      request.note({ provider: params.provider })
      return settings.providerKeys.remove(params.provider)
    }),
  ]
}

function resourcesReply(resources: Resources) {
  return { ...resources, allowed_cpu: [...cpuChoices], min_memory: '1g', max_memory: '32g' }
}
