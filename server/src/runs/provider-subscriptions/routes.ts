import * as endpoints from '@roost/contracts/runs/provider-subscriptions'
import type { TestProvider } from '../../foundation/settings/index.ts'
import { agentRoute, type Route, route } from '../../http/route.ts'
import { secret } from '../../kit/secret.ts'
import type { ProviderSubscriptions } from './service.ts'

export function providerSubscriptionRoutes({
  subscriptions,
  testProvider,
}: {
  subscriptions: ProviderSubscriptions
  testProvider: TestProvider
}): Route[] {
  return [
    route(endpoints.listSubscriptions, () => subscriptions.list()),
    route(endpoints.putSubscription, async ({ body, request }) => {
      const { token, name, provider } = body
      request.note({ subscription_name: name, provider })
      const { subscription_type = null, rate_limit_tier = null } = body
      return subscriptions.put({ name, provider, token: secret(token), subscription_type, rate_limit_tier })
    }),
    route(endpoints.testSubscription, async ({ body: { token, provider }, request }) => {
      const { ok, status, message } = await testProvider(provider, secret(token))
      request.note({ provider, status })
      return { valid: ok, status: tested[status], message }
    }),
    agentRoute(endpoints.assignSubscription, async ({ agent, body: { subscription_name }, request }) => {
      request.note({ subscription_name })
      await subscriptions.assign(agent, subscription_name)
      return { success: true as const, agent_name: agent.name, subscription_name }
    }),
    agentRoute(endpoints.clearSubscription, async ({ agent }) => {
      await subscriptions.clear(agent)
      return { success: true as const, agent_name: agent.name, subscription_name: null }
    }),
    agentRoute(endpoints.getAgentAuth, async ({ agent }) => ({
      agent_name: agent.name,
      ...(await subscriptions.authOf(agent.id)),
    })),
    route(endpoints.getSubscriptionUsage, ({ params: { id } }) => subscriptions.usage(id)),
    route(endpoints.deleteSubscription, async ({ params: { id }, request }) => {
      const { name, agents } = await subscriptions.remove(id)
      request.note({ subscription_name: name, agents_cleared: agents })
      const message = `The subscription "${name}" is deleted.`
      return { success: true as const, message, agents_cleared: agents }
    }),
  ]
}

const tested = {
  valid: 'ok',
  invalid: 'invalid_token',
  rate_limited: 'rate_limited',
  unreachable: 'unreachable',
} as const
