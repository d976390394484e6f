import {
  AgentAuth,
  assignSubscription,
  clearSubscription,
  getAgentAuth,
  listSubscriptions,
} from '@roost/contracts/runs/provider-subscriptions'
import { bodyOf, described, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

export const providerSubscriptionTools: Tool[] = [
  tool({
    name: 'list_subscriptions',
    description:
      'Named credentials of model providers that agents share, and the agents that use each. Never the tokens. For admins.',
    audience: 'person',
    effect: 'read',
    requests: [request(listSubscriptions)],
    input: {},
    async run({ api }) {
      const subscriptions = await api.call(listSubscriptions, {})
      return { subscriptions, count: subscriptions.length }
    },
  }),
  tool({
    name: 'assign_subscription',
    description:
      "Let an agent use a named subscription for its model provider, from its next request on. The subscription must be of the provider of the agent's runtime.",
    audience: 'person',
    effect: 'write',
    requests: [request(assignSubscription)],
    input: {
      agent_name: agentName,
      ...described(bodyOf(assignSubscription), { subscription_name: 'A name of list_subscriptions.' }),
    },
    run: ({ api }, { agent_name, ...body }) =>
      api.call(assignSubscription, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'clear_agent_subscription',
    description: "Let an agent use the platform's own key for its model provider again.",
    audience: 'person',
    effect: 'write',
    requests: [request(clearSubscription)],
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) => api.call(clearSubscription, { params: { name: agent_name } }),
  }),
  tool({
    name: 'get_agent_auth',
    description:
      "The credential that an agent uses for its model provider: a subscription, the platform's key, or none; without one its runs fail.",
    audience: 'everyone',
    effect: 'read',
    requests: [request(getAgentAuth)],
    input: { agent_name: agentName },
    output: AgentAuth,
    run: ({ api }, { agent_name }) => api.call(getAgentAuth, { params: { name: agent_name } }),
  }),
]
