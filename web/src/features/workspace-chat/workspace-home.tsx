import { useQuery } from '@tanstack/react-query'
import { MessagesSquare } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Title } from '../../ui/title.tsx'
import { Asks } from './asks.tsx'
import { rosterQuery } from './queries.ts'

/** The page without a conversation, on wide screens: the user's open questions. */
export function WorkspaceHome() {
  const roster = useQuery(rosterQuery(useApi()))
  return (
    <div className="mx-auto w-full max-w-2xl overflow-y-auto px-6 py-8">
      <Title of={['Workspace']} />
      <Asks />
      {(roster.data?.agents.length ?? 0) > 0 && (
        <EmptyState
          icon={<MessagesSquare aria-hidden />}
          title="Select an agent to chat with"
          description="Each agent has a permanent conversation, Main. You can start additional conversations."
        />
      )}
    </div>
  )
}
