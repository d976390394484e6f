import { type CallBinding, deleteCallBinding, putCallsEnabled } from '@roost/contracts/conversations/calls'
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
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

/** Telephone calls of an agent. Hidden when the platform has calls disabled. */
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
      title="Telephone calls"
      description="The agent can call people by telephone. After a call, its transcript starts a new run."
    >
      {data.configured ? (
        <Bound name={name} binding={data} isOwner={isOwner} />
      ) : (
        <p className="text-muted text-sm">
          {isOwner
            ? 'Calls need a Twilio account with a telephone number.'
            : 'No Twilio account is set up for this agent.'}
        </p>
      )}
      {isOwner ? (
        <div className="flex flex-wrap gap-2">
          <Button size="sm" onClick={() => setOpen('account')}>
            {data.configured ? 'Change account' : 'Set up Twilio account'}
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
        title="Twilio account"
        description="Roost verifies the account with Twilio. The auth token is stored encrypted and is not shown again."
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
  const toggle = useOptimisticSave({
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
            {binding.display_name ? `Caller name: ${binding.display_name}. ` : ''}
            When off, new calls are refused. The account stays set up.
          </p>
        </div>
        <Switch
          label="Allow telephone calls"
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
      toast({ title: `Twilio account of ${name} removed.` })
    },
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}
      title="Remove Twilio account?"
      description="Deletes the auth token and ends running calls. The call history is kept."
      action="Remove account"
      pending={remove.isPending}
      onConfirm={() => remove.mutate()}
    />
  )
}
