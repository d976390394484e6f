import type { Schedule } from '@roost/contracts/triggers/schedules'
import { createWebhook, deleteWebhook, type Webhook } from '@roost/contracts/triggers/webhooks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { RefreshCw, Trash2, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { SecretText } from '../../ui/secret-dialog.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { scheduleKeys } from '../schedules/queries.ts'
import { type Check, curlExample, pythonExample } from './examples.ts'
import { webhookQuery } from './queries.ts'
import { Signature } from './signature.tsx'

type PanelProps = { name: string; schedule: Schedule }

/** Triggers a schedule from other systems. */
export function WebhookPanel({ name, schedule }: PanelProps) {
  const webhook = useQuery(webhookQuery(useApi(), name, schedule.id))
  const change = useChange({ name, schedule })
  if (!webhook.data) {
    if (!webhook.error) return <Skeleton className="h-60 w-full" />
    return (
      <ErrorState
        title="Could not load the webhook"
        error={webhook.error}
        onRetry={() => void webhook.refetch()}
      />
    )
  }
  const { webhook_url: url } = webhook.data
  if (url === null) {
    return (
      <Card>
        <EmptyState
          icon={<WebhookIcon aria-hidden />}
          title="No webhook yet"
          description="A webhook is a URL that other systems call to fire this schedule, optionally with context."
          action={
            <Button variant="primary" pending={change.isPending} onClick={() => change.mutate('make')}>
              Create webhook
            </Button>
          }
        />
      </Card>
    )
  }
  return (
    <div className="grid min-w-0 items-start gap-4 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <Address webhook={webhook.data} url={url} change={change} />
        <Signature name={name} schedule={schedule} webhook={webhook.data} />
      </div>
      <Example url={url} check={checkOf(webhook.data)} />
    </div>
  )
}

function useChange({ name, schedule: { id } }: PanelProps) {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: async (how: 'make' | 'rotate' | 'revoke') => {
      const params = { name, id }
      await (how === 'revoke' ? api.call(deleteWebhook, { params }) : api.call(createWebhook, { params }))
      return how
    },
    onSuccess: (how) => {
      const messages = {
        make: 'Webhook created.',
        rotate: 'Webhook rotated. The old URL no longer works.',
        revoke: 'Webhook revoked.',
      }
      toast({ title: messages[how], tone: 'success' })
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: scheduleKeys.ofAgent(name) }),
  })
}

type AddressProps = { webhook: Webhook; url: string; change: ReturnType<typeof useChange> }

function Address({ webhook, url, change }: AddressProps) {
  const [openDialog, setOpenDialog] = useState<'rotate' | 'revoke' | null>(null)
  const close = () => setOpenDialog(null)
  return (
    <Card>
      <CardHeader
        title="Webhook URL"
        description="Anyone who knows this URL can fire the schedule, even while it is disabled."
      />
      <SecretText label="URL" value={url} />
      <KeyValues
        className="mt-3"
        items={[
          {
            label: 'Last called',
            value: webhook.last_called_at ? <RelativeTime at={webhook.last_called_at} /> : 'never',
          },
          { label: 'Created', value: <RelativeTime at={webhook.created_at} /> },
        ]}
      />
      <div className="mt-4 flex flex-wrap gap-2">
        <Button icon={<RefreshCw aria-hidden />} onClick={() => setOpenDialog('rotate')}>
          Rotate…
        </Button>
        <Button icon={<Trash2 aria-hidden />} onClick={() => setOpenDialog('revoke')}>
          Revoke…
        </Button>
      </div>
      <ConfirmDialog
        open={openDialog !== null}
        onOpenChange={close}
        title={openDialog === 'revoke' ? 'Revoke webhook?' : 'Rotate webhook?'}
        description={
          openDialog === 'revoke'
            ? 'The URL returns 404 immediately. The schedule is kept.'
            : 'The old URL returns 404 immediately, and the signing secret is deleted.'
        }
        action={openDialog === 'revoke' ? 'Revoke webhook' : 'Rotate webhook'}
        pending={change.isPending}
        onConfirm={() => {
          if (openDialog) change.mutate(openDialog, { onSettled: close })
        }}
      />
    </Card>
  )
}

export function checkOf(webhook: Webhook): Check {
  if (!webhook.auth_enabled) return 'none'
  return webhook.requires_timestamp ? 'time' : 'body'
}

const languages = [
  { value: 'sh', label: 'curl' },
  { value: 'python', label: 'Python' },
] as const

function Example({ url, check }: { url: string; check: Check }) {
  const [language, setLanguage] = useState<'sh' | 'python'>('sh')
  return (
    <Card>
      <CardHeader
        title="Example"
        description="The context is appended to the message as data. Metadata is stored with the run. Both are optional."
        actions={
          <Segmented
            label="Language"
            size="sm"
            options={languages}
            value={language}
            onValueChange={setLanguage}
          />
        }
      />
      <CodeBlock
        language={language}
        title={check === 'none' ? 'Call' : 'Signed call'}
        code={(language === 'sh' ? curlExample : pythonExample)(url, check)}
      />
      <p className="mt-2 text-muted text-xs">
        Repeated calls with the same body within a day count once, unless their <code>Idempotency-Key</code>{' '}
        header differs.
      </p>
    </Card>
  )
}
