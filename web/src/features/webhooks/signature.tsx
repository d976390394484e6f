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

/** Whether calls must be signed, and with what. */
export function Signature({ name, schedule, webhook }: SignatureProps) {
  const { api, queries } = useApp()
  const params = { name, id: schedule.id }
  const [secret, setSecret] = useState<string | null>(null)
  const [isAsked, setAsked] = useState(false)
  const [withTime, setWithTime] = useState(webhook.auth_enabled ? webhook.requires_timestamp : true)
  const options = {
    onError: (error: unknown) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  }
  const keep = ({ signing_secret: _, ...shown }: Webhook) =>
    storeReply(queries, webhookQuery(api, name, schedule.id).queryKey, shown)
  const make = useMutation({
    ...options,
    mutationFn: () => api.call(createWebhookSecret, { params, body: { require_timestamp: withTime } }),
    onSuccess: async (made) => {
      await keep(made)
      setSecret(made.signing_secret ?? null)
    },
  })
  const end = useMutation({
    ...options,
    mutationFn: () => api.call(deleteWebhookSecret, { params }),
    onSuccess: keep,
    onSettled: () => setAsked(false),
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
              ? `Calls need a signature of time and body, at most ${signedTimeTolerance / 60} minutes old.`
              : 'Calls need a signature of their body.'
            : 'The address alone is enough. With a signature a leaked address is of no use.'
        }
      />
      <Checkbox
        checked={withTime}
        onCheckedChange={setWithTime}
        hint={`Old calls cannot be played again; the caller’s clock must be right to ${signedTimeTolerance / 60} minutes.`}
      >
        Sign the time too
      </Checkbox>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button
          variant={isOn ? 'secondary' : 'primary'}
          pending={make.isPending}
          onClick={() => make.mutate()}
        >
          {isOn ? 'Give another secret' : 'Require a signature'}
        </Button>
        {isOn && <Button onClick={() => setAsked(true)}>Require none…</Button>}
      </div>
      <SecretDialog
        title="The signing secret"
        secrets={secret === null ? null : [{ label: 'Secret', value: secret }]}
        onClose={() => setSecret(null)}
      >
        <p className="text-muted text-sm">
          The example beside the address signs with it, taken from <code>WEBHOOK_SECRET</code>.
        </p>
      </SecretDialog>
      <ConfirmDialog
        open={isAsked}
        onOpenChange={setAsked}
        title="Take calls without a signature?"
        description="The secret is gone; whoever knows the address can fire the schedule."
        action="Require none"
        pending={end.isPending}
        onConfirm={() => end.mutate()}
      />
    </Card>
  )
}
