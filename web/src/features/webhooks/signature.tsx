import type { Schedule } from '@roost/contracts/triggers/schedules'
import {
  createWebhookSecret,
  deleteWebhookSecret,
  signedTimeTolerance,
  type Webhook,
} from '@roost/contracts/triggers/webhooks'
import { useMutation } from '@tanstack/react-query'
import { ShieldCheck, ShieldOff } from 'lucide-react'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { webhookQuery } from './queries.ts'

type SignatureProps = { name: string; schedule: Schedule; webhook: Webhook }

/** The signature settings of the webhook. */
export function Signature({ name, schedule, webhook }: SignatureProps) {
  const { api, queries } = useApp()
  const params = { name, id: schedule.id }
  const [secret, setSecret] = useState<string | null>(null)
  const [isConfirming, setConfirming] = useState(false)
  const [withTime, setWithTime] = useState(webhook.auth_enabled ? webhook.requires_timestamp : true)
  const options = {
    onError: (error: unknown) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  }
  const storeWebhook = ({ signing_secret: _, ...shown }: Webhook) =>
    storeReply(queries, webhookQuery(api, name, schedule.id).queryKey, shown)
  const create = useMutation({
    ...options,
    mutationFn: () => api.call(createWebhookSecret, { params, body: { require_timestamp: withTime } }),
    onSuccess: async (created) => {
      await storeWebhook(created)
      setSecret(created.signing_secret ?? null)
    },
  })
  const end = useMutation({
    ...options,
    mutationFn: () => api.call(deleteWebhookSecret, { params }),
    onSuccess: storeWebhook,
    onSettled: () => setConfirming(false),
  })
  const isOn = webhook.auth_enabled
  return (
    <Card>
      <CardHeader
        title="Signature"
        icon={isOn ? <ShieldCheck aria-hidden /> : <ShieldOff aria-hidden />}
        description={
          isOn
            ? webhook.requires_timestamp
              ? `Calls need a signature of time and body. It is valid for ${signedTimeTolerance / 60} minutes.`
              : 'Calls need a signature of their body.'
            : 'The URL alone is sufficient. A required signature protects against a leaked URL.'
        }
      />
      <Checkbox
        checked={withTime}
        onCheckedChange={setWithTime}
        hint={`Recorded calls are refused later. The caller’s clock must be accurate to ${signedTimeTolerance / 60} minutes.`}
      >
        Include time in signature
      </Checkbox>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button
          variant={isOn ? 'secondary' : 'primary'}
          pending={create.isPending}
          onClick={() => create.mutate()}
        >
          {isOn ? 'Replace secret' : 'Require signature'}
        </Button>
        {isOn && <Button onClick={() => setConfirming(true)}>Remove signature…</Button>}
      </div>
      <SecretDialog
        title="Signing secret"
        secrets={secret === null ? null : [{ label: 'Secret', value: secret }]}
        onClose={() => setSecret(null)}
      >
        <p className="text-muted text-sm">
          The example on this page signs with this secret and reads it from <code>WEBHOOK_SECRET</code>.
        </p>
      </SecretDialog>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title="Remove the signature requirement?"
        description="Deletes the secret. Anyone who knows the URL can then fire the schedule."
        action="Remove signature"
        pending={end.isPending}
        onConfirm={() => end.mutate()}
      />
    </Card>
  )
}
