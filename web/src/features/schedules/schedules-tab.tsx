import type { AgentDetails } from '@roost/contracts/agents/agent'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useScheduleRemoval } from './actions.ts'
import { type Editing, ScheduleDialog } from './schedule-dialog.tsx'
import { ScheduleList } from './schedule-list.tsx'
import { SchedulePanel } from './schedule-panel.tsx'

const route = getRouteApi('/signed-in/agents/$name')

/** All schedules of the agent, or the one in the address. */
export function SchedulesTab({ agent }: { agent: AgentDetails }) {
  const { schedule } = route.useSearch()
  const navigate = route.useNavigate()
  const [editing, setEditing] = useState<Editing | null>(null)
  const removal = useScheduleRemoval(agent.name)
  const open = (id: string | undefined) =>
    void navigate({ search: { tab: 'schedules', ...(id === undefined ? {} : { schedule: id }) } })
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
        onClose={() => setEditing(null)}
        onSaved={({ id }) => {
          // Opens a new schedule, which shows its next due times and its webhook.
          if (editing?.stored === null) open(id)
        }}
      />
    </>
  )
}
