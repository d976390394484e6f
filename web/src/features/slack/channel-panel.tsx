import {
  deleteSlackChannel,
  putSlackChannel,
  type SlackChannel,
  SlackChannelBody,
} from '@roost/contracts/conversations/slack'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Form, FormError, SwitchField, TextField, useZodForm } from '../../ui/form.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { flagsQuery } from '../settings/queries.ts'
import { slackChannelQuery, slackKeys } from './queries.ts'

/** The Slack channel where the agent answers. */
export function SlackChannelPanel({ name }: { name: string }) {
  const { api } = useApp()
  const channel = useQuery(slackChannelQuery(api, name))
  const flags = useQuery(flagsQuery(api))
  if (!channel.data) {
    if (!channel.error) return <Skeleton className="h-16" />
    return (
      <ErrorState
        title="Could not load the channel"
        error={channel.error}
        onRetry={() => void channel.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  if (flags.data?.slack === false && !channel.data.bound) {
    return (
      <Banner title="Slack is not connected to this platform.">
        An admin can connect it under Settings → Integrations.
      </Banner>
    )
  }
  return <Bound name={name} channel={channel.data} />
}

function Bound({ name, channel }: { name: string; channel: SlackChannel }) {
  const { api, queries } = useApp()
  const [open, setOpen] = useState<'bind' | 'unbind' | null>(null)
  const unbind = useMutation({
    mutationFn: () => api.call(deleteSlackChannel, { params: { name } }),
    onSuccess: async (now) => {
      setOpen(null)
      await storeReply(queries, slackKeys.channel(name), now)
      toast({ title: `Slack channel of ${name} unbound.` })
    },
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border border-line bg-surface px-4 py-3">
      <div className="min-w-40 flex-1">
        <p className="font-medium text-sm">{channel.bound ? titleOf(channel) : 'No channel'}</p>
        <p className="text-muted text-xs">
          {channel.bound
            ? 'Each message in the channel starts a run. The answer appears in its thread.'
            : 'Invite the bot to a channel, then enter the channel ID here.'}
        </p>
      </div>
      {channel.is_dm_default ? <Badge tone="info">direct messages</Badge> : null}
      <div className="flex gap-2">
        <Button size="sm" onClick={() => setOpen('bind')}>
          {channel.bound ? 'Change channel' : 'Bind channel'}
        </Button>
        {channel.bound ? (
          <Button size="sm" variant="ghost" onClick={() => setOpen('unbind')}>
            Unbind
          </Button>
        ) : null}
      </div>
      <Dialog
        open={open === 'bind'}
        onOpenChange={(isOpen) => setOpen(isOpen ? 'bind' : null)}
        title="Slack channel"
        description="Everyone in the channel can chat with this agent."
      >
        <BindForm name={name} channel={channel} onDone={() => setOpen(null)} />
      </Dialog>
      <ConfirmDialog
        open={open === 'unbind'}
        onOpenChange={(isOpen) => setOpen(isOpen ? 'unbind' : null)}
        title={`Unbind ${titleOf(channel)}?`}
        description="The agent no longer answers there. Conversations are kept."
        action="Unbind channel"
        pending={unbind.isPending}
        onConfirm={() => unbind.mutate()}
      />
    </div>
  )
}

type BindFormProps = { name: string; channel: SlackChannel; onDone(): void }

function BindForm({ name, channel, onDone }: BindFormProps) {
  const { api, queries } = useApp()
  const form = useZodForm(SlackChannelBody, {
    defaultValues: { channel_id: channel.channel_id ?? '', is_dm_default: channel.is_dm_default },
  })
  async function save(body: z.output<typeof SlackChannelBody>): Promise<void> {
    const now = await api.call(putSlackChannel, { params: { name }, body })
    await storeReply(queries, slackKeys.channel(name), now)
    toast({ title: `${name} now answers in ${titleOf(now)}.`, tone: 'success' })
    onDone()
  }
  return (
    <Form form={form} onSubmit={save}>
      <FormError />
      <TextField
        name="channel_id"
        label="Channel ID"
        hint="Shown at the bottom of the channel details in Slack, for example C0123456789"
        autoComplete="off"
        autoFocus
      />
      <SwitchField
        name="is_dm_default"
        label="Answer direct messages"
        hint="Only one agent of the platform can answer direct messages."
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Bind
        </Button>
      </div>
    </Form>
  )
}

function titleOf({ channel_name, channel_id }: SlackChannel): string {
  return channel_name ? `#${channel_name}` : (channel_id ?? 'the channel')
}
