import type { AgentDetails } from '@roost/contracts/agents/agent'
import { getRouteApi } from '@tanstack/react-router'
import { AgentStopped } from '../agents/agent-stopped.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { paramOf, placeOf } from './paths.ts'
import { useDraft } from './use-draft.ts'
import { Workspace } from './workspace.tsx'

const route = getRouteApi('/signed-in/agents/$name')

/** The agent's files. The address says which one is shown (`?path=`); a folder ends with a slash. */
export function FilesTab({ agent }: { agent: AgentDetails }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const desk = useDraft(agent.name)
  const place = placeOf(search.path)
  // Changes that are not saved outlive the agent's stop: they are saved when it runs again.
  if (agent.status !== 'running' && !desk.isDirty) {
    return <AgentStopped agent={agent} purpose="see and change its files" />
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
