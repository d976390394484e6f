import {
  callWebhook,
  createWebhook,
  createWebhookSecret,
  deleteWebhook,
  deleteWebhookSecret,
  getWebhook,
  signatureHeader,
  timestampHeader,
  WebhookCall,
} from '@roost/contracts/triggers/webhooks'
import { agentRoute, answer, type Route, route } from '../../http/route.ts'
import type { createCallWebhook } from './call.ts'
import type { ManageWebhooks } from './service.ts'

export function webhookRoutes({
  manage,
  call,
}: {
  manage: ManageWebhooks
  call: ReturnType<typeof createCallWebhook>
}): Route[] {
  return [
    agentRoute(getWebhook, ({ agent, params }) => manage.find(agent.id, params.id)),
    agentRoute(createWebhook, ({ agent, params, request }) => {
      request.note({ schedule_id: params.id })
      return manage.create(agent.id, params.id)
    }),
    agentRoute(deleteWebhook, async ({ agent, params, request }) => {
      request.note({ schedule_id: params.id })
      await manage.revoke(agent.id, params.id)
      return undefined
    }),
    agentRoute(createWebhookSecret, ({ agent, params, body, request }) => {
      request.note({ schedule_id: params.id })
      return manage.createSecret(agent.id, params.id, body.require_timestamp ?? false)
    }),
    agentRoute(deleteWebhookSecret, ({ agent, params, request }) => {
      request.note({ schedule_id: params.id })
      return manage.deleteSecret(agent.id, params.id)
    }),
    route(callWebhook, async ({ params, body, request }) => {
      const {
        status,
        body: reply,
        isReplay,
      } = await call({
        token: params.token,
        body,
        ip: request.ip,
        key: request.header('idempotency-key'),
        signature: request.header(signatureHeader),
        time: request.header(timestampHeader),
        read: () => request.readObject(WebhookCall, body),
        about: (schedule, agent) => request.note({ schedule_id: schedule.id, agent }),
      })
      return answer(reply, { status, ...(isReplay ? { headers: { 'x-idempotent-replay': 'true' } } : {}) })
    }),
  ]
}
