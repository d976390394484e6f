import {
  type FleetOutcome,
  fleetFilters,
  restartFleet,
  stopFleet,
} from '@roost/contracts/operations/fleet-acts'
import { useMutation } from '@tanstack/react-query'
import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Input } from '../../ui/input.tsx'
import { Select } from '../../ui/select.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { toast } from '../../ui/toast.tsx'
import { agentKeys } from '../agents/queries.ts'
import { monitoringKey } from './queries.ts'

type ActionKind = 'restart' | 'stop'
type AgentFilter = { filter_status: (typeof fleetFilters)[number]; name_prefix: string; recreate: boolean }

/** Restarts or stops many agents in sequence; admins only. `FleetActionOutcome` shows the result. */
export function useFleetAction() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: ({ action, filter: { recreate, ...filter } }: { action: ActionKind; filter: AgentFilter }) =>
      action === 'restart'
        ? api.call(restartFleet, { body: { ...filter, recreate } })
        : api.call(stopFleet, { body: filter }),
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: agentKeys.list }),
        queries.invalidateQueries({ queryKey: monitoringKey }),
      ]),
  })
}

type FleetActionsProps = { actions: ReturnType<typeof useFleetAction> }

export function FleetActions({ actions }: FleetActionsProps) {
  const [openAction, setOpenAction] = useState<ActionKind | null>(null)
  return (
    <>
      <Button
        icon={<RotateCw aria-hidden />}
        disabled={actions.isPending}
        onClick={() => setOpenAction('restart')}
      >
        Restart agents…
      </Button>
      <Button icon={<StopIcon />} disabled={actions.isPending} onClick={() => setOpenAction('stop')}>
        Stop agents…
      </Button>
      {openAction && (
        <FleetActionDialog
          action={openAction}
          isPending={actions.isPending}
          onClose={() => setOpenAction(null)}
          onConfirm={(filter) =>
            actions.mutate({ action: openAction, filter }, { onSettled: () => setOpenAction(null) })
          }
        />
      )}
    </>
  )
}

const words = {
  restart: {
    title: 'Restart agents?',
    action: 'Restart agents',
    description:
      'Restarts the agents in sequence, except the system agent. Their running runs are cancelled. The operation continues when you close this dialog.',
  },
  stop: {
    title: 'Stop agents?',
    action: 'Stop agents',
    description:
      'Stops the agents in sequence, except the system agent. Their running runs are cancelled. The agents stay stopped until a user starts them.',
  },
} as const

const stateWords = { running: 'Running', stopped: 'Stopped', exited: 'Exited', all: 'All' } as const
const states = fleetFilters.map((value) => ({ value, label: stateWords[value] }))

type FleetActionDialogProps = {
  action: ActionKind
  isPending: boolean
  onClose: () => void
  onConfirm: (filter: AgentFilter) => void
}

function FleetActionDialog({ action, isPending, onClose, onConfirm }: FleetActionDialogProps) {
  const [filter, setFilter] = useState<AgentFilter>({
    filter_status: 'running',
    name_prefix: '',
    recreate: false,
  })
  const change = (next: Partial<AgentFilter>) => setFilter((now) => ({ ...now, ...next }))
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      {...words[action]}
      typed={`${action} agents`}
      pending={isPending}
      onConfirm={() => onConfirm({ ...filter, name_prefix: filter.name_prefix.trim() })}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Status of agents">
          <Select
            options={states}
            value={filter.filter_status}
            onValueChange={(filter_status) => change({ filter_status })}
          />
        </Field>
        <Field label="Name prefix" hint="Leave empty for all names.">
          <Input
            value={filter.name_prefix}
            maxLength={63}
            onChange={({ target }) => change({ name_prefix: target.value })}
          />
        </Field>
      </div>
      {action === 'restart' && (
        <Checkbox
          checked={filter.recreate}
          onCheckedChange={(recreate) => change({ recreate })}
          hint="Uses the current image and settings. Volumes are kept."
        >
          Recreate the containers
        </Checkbox>
      )}
    </ConfirmDialog>
  )
}

/** The number of successes, and each failure. */
export function FleetActionOutcome({ outcome: { summary, results } }: { outcome: FleetOutcome }) {
  const failed = results.filter(({ result }) => result === 'failed')
  const explained = results.filter(({ reason }) => reason !== undefined)
  const skipped = summary.skipped > 0 ? `, ${summary.skipped} skipped` : ''
  return (
    <Banner
      tone={failed.length > 0 ? 'danger' : 'success'}
      title={`${plural(summary.successes, 'agent')} done, ${summary.failures} failed${skipped}`}
    >
      {explained.length > 0 && (
        <ul className="max-h-48 overflow-y-auto">
          {explained.map(({ agent, reason }) => (
            <li key={agent} className="break-words">
              {agent}: {reason}
            </li>
          ))}
        </ul>
      )}
    </Banner>
  )
}
