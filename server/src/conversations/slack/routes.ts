import * as endpoints from '@roost/contracts/conversations/slack'
import { agentRoute, type Route, route } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import type { Slack } from './service.ts'

export function slackRoutes({ connection, channels, receive }: Slack): Route[] {
  return [
    route(endpoints.getSlack, () => connection.view()),
    route(endpoints.putSlack, ({ body }) => connection.put(body)),
    route(endpoints.deleteSlack, () => connection.remove()),

    agentRoute(endpoints.getSlackChannel, ({ agent }) => channels.of(agent.id)),
    agentRoute(endpoints.putSlackChannel, ({ agent, body, request }) => {
      // Binding gives everyone in the channel access to the agent.
      if (agent.is_system) throw new Fault('system_agent_protected')
      const is_dm_default = body.is_dm_default ?? false
      request.note({ channel_id: body.channel_id, is_dm_default })
      return channels.bind(agent, { channel_id: body.channel_id, is_dm_default })
    }),
    agentRoute(endpoints.deleteSlackChannel, ({ agent }) => channels.unbind(agent)),

    route(endpoints.receiveSlackEvent, ({ body, request }) =>
      receive({
        body,
        signature: request.header(endpoints.slackSignatureHeader),
        time: request.header(endpoints.slackTimestampHeader),
        read: () => request.readObject(endpoints.SlackRequest, body),
      }),
    ),
  ]
}
