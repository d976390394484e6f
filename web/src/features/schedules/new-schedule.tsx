import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { CalendarClock, Plus } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { agentsQuery } from '../agents/queries.ts'

/** Asks for the agent, and opens the form for a new schedule on its page. */
export function NewSchedule() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant="primary" icon={<Plus aria-hidden />} onClick={() => setOpen(true)}>
        New schedule
      </Button>
      <Dialog open={isOpen} onOpenChange={setOpen} title="New schedule" size="sm">
        <AgentChoice onCancel={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

function AgentChoice({ onCancel }: { onCancel: () => void }) {
  const navigate = useNavigate()
  const agents = useQuery(agentsQuery(useApi()))
  const [agent, setAgent] = useState<string | null>(null)
  if (!agents.data) {
    return agents.error ? (
      <ErrorState
        title="Could not load the agents"
        error={agents.error}
        onRetry={() => void agents.refetch()}
      />
    ) : (
      <SkeletonText lines={2} label="Loading agents" />
    )
  }
  if (agents.data.length === 0) {
    return (
      <EmptyState
        icon={<CalendarClock aria-hidden />}
        title="No agents yet"
        description="A schedule sends a task to an agent. Create the agent first."
        action={
          <Link to="/agents" search={{ create: true }} className={buttonClass()}>
            Create agent
          </Link>
        }
      />
    )
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (agent === null) return
        void navigate({
          to: '/agents/$name',
          params: { name: agent },
          search: { tab: 'schedules', create: true },
        })
      }}
    >
      <Field label="Agent" hint="Gets the task of the schedule at each run." required>
        <Combobox
          placeholder="Select an agent"
          value={agent}
          onValueChange={setAgent}
          options={agents.data.map(({ name, label }) => ({
            value: name,
            label: label ?? name,
            ...(label === null ? {} : { hint: name }),
          }))}
          className="w-full"
        />
      </Field>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={agent === null}>
          Continue
        </Button>
      </div>
    </form>
  )
}
