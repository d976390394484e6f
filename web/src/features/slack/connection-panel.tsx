import { deleteSlack, putSlack, SlackBody } from '@roost/contracts/conversations/slack'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { settingKeys } from '../settings/queries.ts'
import { slackKeys, slackQuery } from './queries.ts'

/** The Slack app of the platform. */
export function SlackConnectionPanel() {
  const { api } = useApp()
  const slack = useQuery(slackQuery(api))
  const [open, setOpen] = useState<'connect' | 'forget' | null>(null)
  const renewed = useRenewed()
  const forget = useMutation({
    mutationFn: () => api.call(deleteSlack, {}),
    onSuccess: () => {
      setOpen(null)
      toast({ title: 'Slack disconnected.' })
      return renewed()
    },
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  if (!slack.data) {
    if (!slack.error) return <Skeleton className="h-16" />
    return (
      <ErrorState
        title="Could not load the Slack connection"
        error={slack.error}
        onRetry={() => void slack.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  const { configured, workspace_name, bot_user } = slack.data
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border border-line px-4 py-3">
      <div className="min-w-40 flex-1">
        <p className="font-medium text-sm">{configured ? workspace_name : 'No workspace'}</p>
        <p className="text-muted text-xs">
          {configured ? (
            `Agents answer as @${bot_user}`
          ) : (
            <>
              Request URL of the app: <code>/api/public/slack/events</code> on this host.
            </>
          )}
        </p>
      </div>
      {configured ? <Badge tone="success">connected</Badge> : <Badge>not connected</Badge>}
      <div className="flex gap-2">
        <Button size="sm" onClick={() => setOpen('connect')}>
          {configured ? 'Replace Slack app' : 'Connect Slack'}
        </Button>
        {configured ? (
          <Button size="sm" variant="ghost" onClick={() => setOpen('forget')}>
            Disconnect Slack
          </Button>
        ) : null}
      </div>
      <Dialog
        open={open === 'connect'}
        onOpenChange={(isOpen) => setOpen(isOpen ? 'connect' : null)}
        title="Connect Slack app"
        description="Copy both values from the app’s pages at Slack. Roost verifies the token with Slack."
      >
        <ConnectForm onDone={() => setOpen(null)} />
      </Dialog>
      <ConfirmDialog
        open={open === 'forget'}
        onOpenChange={(isOpen) => setOpen(isOpen ? 'forget' : null)}
        title="Disconnect Slack?"
        description="Agents no longer answer in Slack, including pending messages. Their channels are kept for the next app."
        action="Disconnect Slack"
        pending={forget.isPending}
        onConfirm={() => forget.mutate()}
      />
    </div>
  )
}

function ConnectForm({ onDone }: { onDone(): void }) {
  const { api } = useApp()
  const renewed = useRenewed()
  const form = useZodForm(SlackBody, { defaultValues: { signing_secret: '', bot_token: '' } })
  async function save(body: z.output<typeof SlackBody>): Promise<void> {
    const { workspace_name } = await api.call(putSlack, { body })
    await renewed()
    toast({ title: `Connected to ${workspace_name}.`, tone: 'success' })
    onDone()
  }
  return (
    <Form form={form} onSubmit={save}>
      <FormError />
      <TextField
        type="password"
        name="signing_secret"
        label="Signing secret"
        hint="Under Basic Information"
        autoComplete="off"
        autoFocus
      />
      <TextField
        type="password"
        name="bot_token"
        label="Bot token"
        hint="Under OAuth & Permissions. It starts with xoxb-"
        autoComplete="off"
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Connect
        </Button>
      </div>
    </Form>
  )
}

function useRenewed() {
  const { queries } = useApp()
  return () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: slackKeys.connection }),
      queries.invalidateQueries({ queryKey: settingKeys.flags }),
    ])
}
