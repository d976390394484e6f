import { useQuery } from '@tanstack/react-query'
import { MessagesSquare } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Title } from '../../ui/title.tsx'
import { Asks } from './asks.tsx'
import { rosterQuery } from './queries.ts'

/** Before anything is chosen, where there is room for it: what is asked of the person. */
export function WorkspaceHome() {
  const roster = useQuery(rosterQuery(useApi()))
  return (
    <div className="mx-auto w-full max-w-2xl overflow-y-auto px-6 py-8">
      <Title of={['Workspace']} />
      <Asks />
      {(roster.data?.agents.length ?? 0) > 0 && (
        <EmptyState
          icon={<MessagesSquare aria-hidden />}
          title="Choose an agent to talk to"
          description="Each has a conversation that is always there, Main, and as many beside it as you begin."
        />
      )}
    </div>
  )
}
