import { getAgentDefaultDisk, putAgentDefaultDisk } from '@roost/contracts/agents/disk'
import * as endpoints from '@roost/contracts/foundation/platform-settings'
import { type Route, route } from '../../http/route.ts'
import { invalidField } from '../../kit/fault.ts'
import { secret } from '../../kit/secret.ts'
import type { TestProvider } from './provider-test.ts'
import type { Settings } from './service.ts'

export type PlatformSettingRoutesDeps = {
  settings: Settings
  /** Current public address of the MCP server. */
  mcpUrl(): string
  testProvider: TestProvider
}

/** Settings with their own route. */
export function platformSettingRoutes({
  settings,
  mcpUrl,
  testProvider,
}: PlatformSettingRoutesDeps): Route[] {
  const quotas = () => ({ max_agents_creator: settings.value('max_agents_creator') })
  const defaultDisk = () => ({ quota_bytes: settings.value('agent_default_disk_bytes') })
  const repositories = () => ({ repositories: settings.templateRepositories() })
  return [
    route(endpoints.getAgentQuotas, async () => quotas()),
    route(endpoints.putAgentQuotas, async ({ body, request }) => {
      request.note(body)
      await settings.putAgentQuota(body.max_agents_creator)
      return quotas()
    }),

    route(getAgentDefaultDisk, async () => defaultDisk()),
    route(putAgentDefaultDisk, async ({ body, request }) => {
      request.note(body)
      await settings.putDefaultDisk(body.quota_bytes)
      return defaultDisk()
    }),

    route(endpoints.getTemplateRepositories, async () => repositories()),
    route(endpoints.putTemplateRepositories, async ({ body, request }) => {
      request.note({ repositories: body.repositories })
      await settings.putTemplateRepositories(body.repositories)
      return repositories()
    }),

    route(endpoints.getMcpUrl, async () => ({ url: mcpUrl() })),
    route(endpoints.putMcpUrl, async ({ body }) => {
      await settings.putMcpUrl(body.url)
      return { url: mcpUrl() }
    }),

    route(endpoints.getRetention, async () => ({ windows: await settings.retention.windows() })),
    route(endpoints.acknowledgeRetention, async ({ body, request }) => {
      request.note(body)
      const released_rows = await settings.retention.acknowledge(body.key, body.window_days)
      return { success: true as const, key: body.key, released_rows }
    }),

    route(endpoints.testProviderKey, async ({ params: { provider }, body, request }) => {
      const bodyKey = body.api_key ? secret(body.api_key) : null
      const key = bodyKey ?? settings.providerKey(provider)
      if (!key) throw invalidField(['api_key'], 'is required: no key of this provider is configured')
      const result = await testProvider(provider, key)
      request.note({ provider, own_key: bodyKey !== null, status: result.status })
      if (!bodyKey) await settings.providerKeys.noteTest(provider, key, result.ok)
      return result
    }),
  ]
}
