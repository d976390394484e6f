import {
  acknowledgeNotification,
  dismissNotification,
  dismissNotifications,
  listNotifications,
  notificationStatuses,
} from '@roost/contracts/operations/notifications'
import { commandGroup } from './client/client-command.ts'
import { table, time } from './client/output.ts'
import { UsageError } from './command.ts'

export const notifications = commandGroup(
  'notifications',
  'Notifications from agents: list, acknowledge, dismiss.',
  {
    list: {
      parameters: '[AGENT]',
      summary: 'List the pending notifications of an agent, or of all agents.',
      options: { status: { type: 'string' }, limit: { type: 'string' } },
      optionLines: [
        `--status STATUS  ${notificationStatuses.join(', ')}, all (default pending); --limit N (default 50)`,
      ],
      async run({ api, positionals: [agent_name], text, integer, print }) {
        const requestedStatus = text('status') ?? 'pending'
        const status = notificationStatuses.find((each) => each === requestedStatus)
        if (!status && requestedStatus !== 'all')
          throw new UsageError(`--status must be one of ${notificationStatuses.join(', ')}, all.`)
        const limit = String(integer('limit') ?? 50)
        const reply = await api.call(listNotifications, { query: { agent_name, status, limit } })
        print(reply, () =>
          table(
            ['id', 'agent', 'type', 'priority', 'status', 'created', 'title', 'message'],
            reply.notifications.map((each) => [
              each.id,
              each.agent_name,
              each.notification_type,
              each.priority,
              each.status,
              time(each.created_at),
              each.title,
              (each.message ?? '').slice(0, 80),
            ]),
          ),
        )
      },
    },
    acknowledge: {
      parameters: 'ID',
      summary: 'Mark a notification as read.',
      async run({ api, positionals: [id = ''], print }) {
        const reply = await api.call(acknowledgeNotification, { params: { id } })
        print(reply, () => reply.status)
      },
    },
    dismiss: {
      parameters: 'ID',
      summary: 'Dismiss a notification, read or unread.',
      async run({ api, positionals: [id = ''], print }) {
        const reply = await api.call(dismissNotification, { params: { id } })
        print(reply, () => reply.status)
      },
    },
    'dismiss-all': {
      parameters: '[AGENT]',
      summary: 'Dismiss all notifications of an agent, or of all agents.',
      async run({ api, positionals: [agent_name], print }) {
        const reply = await api.call(dismissNotifications, { body: { agent_name } })
        print(reply, () => `${reply.dismissed} dismissed`)
      },
    },
  },
)
