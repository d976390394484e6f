import type { AgentDetails } from '@roost/contracts/agents/agent'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useScheduleRemoval } from './actions.ts'
import { type Editing, ScheduleDialog } from './schedule-dialog.tsx'
import { ScheduleList } from './schedule-list.tsx'
import { SchedulePanel } from './schedule-panel.tsx'

const route = getRouteApi('/signed-in/agents/$name')

const newSchedule: Editing = { stored: null, from: null }

/** All schedules of the agent, or the one in the address. `create` in the address opens the form. */
export function SchedulesTab({ agent }: { agent: AgentDetails }) {
  const { schedule, create } = route.useSearch()
  const navigate = route.useNavigate()
  const [chosen, setEditing] = useState<Editing | null>(null)
  const editing = chosen ?? (create ? newSchedule : null)
  const removal = useScheduleRemoval(agent.name)
  const open = (id: string | undefined) =>
    void navigate({ search: { tab: 'schedules', ...(id === undefined ? {} : { schedule: id }) } })
  const close = () => {
    setEditing(null)
    if (create) void navigate({ search: (now) => ({ ...now, create: undefined }), replace: true })
  }
  return (
    <>
      {schedule === undefined ? (
        <ScheduleList agent={agent} onOpen={open} onEdit={setEditing} removal={removal} />
      ) : (
        <SchedulePanel
          key={schedule}
          agent={agent}
          id={schedule}
          onEdit={setEditing}
          onRemove={(stored) => {
            removal.remove(stored)
            open(undefined)
          }}
        />
      )}
      <ScheduleDialog
        agent={agent}
        editing={editing}
        onClose={close}
        onSaved={({ id }) => {
          // Opens a new schedule, which shows its next due times and its webhook.
          if (editing?.stored === null) open(id)
        }}
      />
    </>
  )
}
