import {
  acknowledgeNotification,
  dismissNotification,
  dismissNotifications,
  listNotifications,
  notificationStatuses,
} from '@roost/contracts/operations/notifications'
import { verbsCommand } from './client/client-command.ts'
import { table, time } from './client/output.ts'
import { UsageError } from './command.ts'

export const notifications = verbsCommand(
  'notifications',
  'What agents tell you: list, acknowledge, dismiss.',
  {
    list: {
      takes: '[AGENT]',
      summary: 'What nobody has read yet, of an agent or of all.',
      options: { status: { type: 'string' }, limit: { type: 'string' } },
      optionLines: [`--status WORD    ${notificationStatuses.join(', ')}, all (pending); --limit N (50)`],
      async run({ api, positionals: [agent_name], text, integer, print }) {
        const wanted = text('status') ?? 'pending'
        const status = notificationStatuses.find((each) => each === wanted)
        if (!status && wanted !== 'all')
          throw new UsageError(`--status must be one of ${notificationStatuses.join(', ')}, all.`)
        const limit = String(integer('limit') ?? 50)
        const found = await api.call(listNotifications, { query: { agent_name, status, limit } })
        print(found, () =>
          table(
            ['id', 'agent', 'type', 'priority', 'status', 'created', 'title', 'message'],
            found.notifications.map((each) => [
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
      takes: 'ID',
      summary: 'Say that it was read.',
      async run({ api, positionals: [id = ''], print }) {
        const reply = await api.call(acknowledgeNotification, { params: { id } })
        print(reply, () => reply.status)
      },
    },
    dismiss: {
      takes: 'ID',
      summary: 'Put it away, read or not.',
      async run({ api, positionals: [id = ''], print }) {
        const reply = await api.call(dismissNotification, { params: { id } })
        print(reply, () => reply.status)
      },
    },
    'dismiss-all': {
      takes: '[AGENT]',
      summary: 'Put away all of an agent, or of all agents.',
      async run({ api, positionals: [agent_name], print }) {
        const reply = await api.call(dismissNotifications, { body: { agent_name } })
        print(reply, () => `${reply.dismissed} dismissed`)
      },
    },
  },
)
