import { cancelReminder, createReminder, listReminders } from '@roost/contracts/triggers/reminders'
import { agentRoute, answer, type Route } from '../../http/route.ts'
import type { Reminders } from './service.ts'

export function reminderRoutes(reminders: Pick<Reminders, 'set' | 'list' | 'cancel'>): Route[] {
  return [
    agentRoute(createReminder, async ({ caller, agent, body, request }) => {
      const reply = await reminders.set({ caller, agent }, body, request.header('idempotency-key'))
      request.note({ replayed: reply.replayed })
      const headers: Record<string, string> = reply.replayed ? { 'x-idempotent-replay': 'true' } : {}
      return answer(reply.body, { status: reply.status, headers })
    }),
    agentRoute(listReminders, (call) => reminders.list(call, call.query)),
    agentRoute(cancelReminder, async ({ caller, agent, params, request }) => {
      request.note({ reminder_id: params.id })
      return reminders.cancel({ caller, agent }, params.id)
    }),
  ]
}
