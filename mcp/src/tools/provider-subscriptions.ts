import {
  AgentAuth,
  assignSubscription,
  clearSubscription,
  getAgentAuth,
  listSubscriptions,
} from '@roost/contracts/runs/provider-subscriptions'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

export const providerSubscriptionTools: Tool[] = [
  tool({
    name: 'list_subscriptions',
    description:
      'Named credentials of model providers that agents share, and which agents use each. Never the tokens. For admins.',
    audience: 'person',
    effect: 'read',
    input: {},
    async run({ api }) {
      const subscriptions = await api.call(listSubscriptions, {})
      return Array.isArray(subscriptions) ? { subscriptions, count: subscriptions.length } : subscriptions
    },
  }),
  tool({
    name: 'assign_subscription',
    description:
      "Let an agent ask its model provider with a named subscription, from its next request on. The subscription has to be of the provider that the agent's runtime asks.",
    audience: 'person',
    effect: 'write',
    input: { agent_name: agentName, subscription_name: z.string().min(1) },
    run: ({ api }, { agent_name, subscription_name }) =>
      api.call(assignSubscription, { params: { name: agent_name }, body: { subscription_name } }),
  }),
  tool({
    name: 'clear_agent_subscription',
    description: "Let an agent ask its model provider with the platform's own key again.",
    audience: 'person',
    effect: 'write',
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) => api.call(clearSubscription, { params: { name: agent_name } }),
  }),
  tool({
    name: 'get_agent_auth',
    description:
      "With what an agent asks its model provider: a subscription, the platform's key, or nothing, and then its runs fail.",
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName },
    output: AgentAuth,
    run: ({ api }, { agent_name }) => api.call(getAgentAuth, { params: { name: agent_name } }),
  }),
]
