import type { AgentDetails } from '@roost/contracts/agents/agent'
import { getRouteApi } from '@tanstack/react-router'
import { AgentStopped } from '../agents/agent-stopped.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { paramOf, placeOf } from './paths.ts'
import { useDraft } from './use-draft.ts'
import { Workspace } from './workspace.tsx'

const route = getRouteApi('/signed-in/agents/$name')

/** The files of the agent. `?path=` selects one; a folder ends with a slash. */
export function FilesTab({ agent }: { agent: AgentDetails }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const desk = useDraft(agent.name)
  const place = placeOf(search.path)
  // Unsaved changes survive a stop of the agent and can be saved when it runs again.
  if (agent.status !== 'running' && !desk.isDirty) {
    return <AgentStopped agent={agent} purpose="view and edit its files" />
  }
  return (
    <>
      <Workspace
        agent={agent}
        place={place}
        desk={desk}
        onGo={(to) => void navigate({ search: { tab: 'files', path: paramOf(to) } })}
      />
      <LeaveDialog path={desk.isDirty ? (desk.draft?.path ?? null) : null} onDiscard={desk.drop} />
    </>
  )
}
