import { type CallBinding, deleteCallBinding, putCallsEnabled } from '@roost/contracts/conversations/calls'
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { partOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Meter } from '../../ui/progress.tsx'
import { Section } from '../../ui/section.tsx'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.tsx'
import { flagsQuery } from '../settings/queries.ts'
import { AccountForm } from './account-form.tsx'
import { CallHistory } from './call-history.tsx'
import { bindingQuery, callKeys } from './queries.ts'

type CallsProps = { name: string; isOwner: boolean }

/** Telephone calls of an agent; nothing where the platform makes none. */
export function CallsSection(props: CallsProps) {
  const { api } = useApp()
  const flags = useQuery(flagsQuery(api))
  return flags.data?.voip ? <Calls {...props} /> : null
}

function Calls({ name, isOwner }: CallsProps) {
  const { api } = useApp()
  const { data } = useSuspenseQuery(bindingQuery(api, name))
  const [open, setOpen] = useState<'account' | 'remove' | null>(null)
  return (
    <Section
      id="calls"
      title="Calls"
      description="The agent calls people by telephone and speaks with its voice. What was said becomes a task of its own."
    >
      {data.configured ? (
        <Bound name={name} binding={data} isOwner={isOwner} />
      ) : (
        <p className="text-muted text-sm">
          {isOwner
            ? 'It needs an account at Twilio and one of its numbers.'
            : 'No account was set up for calls of this agent.'}
        </p>
      )}
      {isOwner ? (
        <div className="flex flex-wrap gap-2">
          <Button size="sm" onClick={() => setOpen('account')}>
            {data.configured ? 'Change account' : 'Set up calls'}
          </Button>
          {data.configured ? (
            <Button size="sm" variant="ghost" onClick={() => setOpen('remove')}>
              Remove account
            </Button>
          ) : null}
        </div>
      ) : null}
      <CallHistory name={name} />
      <Dialog
        open={open === 'account'}
        onOpenChange={(isOpen) => setOpen(isOpen ? 'account' : null)}
        title="Account for calls"
        description="Twilio is asked whether it knows them. The token is kept encrypted and not shown again."
      >
        <AccountForm name={name} binding={data} onDone={() => setOpen(null)} />
      </Dialog>
      <Remove name={name} open={open === 'remove'} onClose={() => setOpen(null)} />
    </Section>
  )
}

function Bound({ name, binding, isOwner }: CallsProps & { binding: CallBinding }) {
  const { api } = useApp()
  const queryKey = callKeys.binding(name)
  const toggle = useAtOnce({
    queryKey,
    save: (enabled: boolean) => api.call(putCallsEnabled, { params: { name }, body: { enabled } }),
    shows: (enabled) => [partOf<CallBinding>(queryKey, { enabled })],
  })
  const cap = binding.daily_call_cap ?? 0
  return (
    <>
      <div className="flex items-start justify-between gap-6">
        <div className="min-w-0">
          <p className="font-medium text-sm">
            Calls from <span className="tabular-nums">{binding.from_number}</span>
          </p>
          <p className="mt-0.5 text-muted text-xs">
            {binding.display_name ? `As ${binding.display_name}. ` : ''}
            Off keeps the account and refuses new calls.
          </p>
        </div>
        <Switch
          label="Calls"
          checked={binding.enabled}
          onCheckedChange={(enabled) => toggle.mutate(enabled)}
          disabled={!isOwner}
        />
      </div>
      <Meter
        label="Calls today (UTC)"
        value={binding.calls_today}
        max={cap}
        text={`${binding.calls_today} of ${cap}`}
      />
    </>
  )
}

function Remove({ name, open, onClose }: { name: string; open: boolean; onClose(): void }) {
  const { api, queries } = useApp()
  const remove = useMutation({
    mutationFn: () => api.call(deleteCallBinding, { params: { name } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: callKeys.binding(name) })
      onClose()
      toast({ title: `${name} makes no calls any more.` })
    },
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title="Remove the account for calls?"
      description="Its token is forgotten, and calls that go on are ended. The history stays."
      action="Remove"
      pending={remove.isPending}
      onConfirm={() => remove.mutate()}
    />
  )
}
