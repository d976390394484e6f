import type { AgentDetails } from '@roost/contracts/agents/agent'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useScheduleRemoval } from './actions.ts'
import { type Editing, ScheduleDialog } from './schedule-dialog.tsx'
import { ScheduleList } from './schedule-list.tsx'
import { SchedulePanel } from './schedule-panel.tsx'

const route = getRouteApi('/signed-in/agents/$name')

/** When the agent is asked by the clock: all of its schedules, or the one that the address names. */
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
          // A new one is shown, so that its next times and its webhook are at hand.
          if (editing?.stored === null) open(id)
        }}
      />
    </>
  )
}
