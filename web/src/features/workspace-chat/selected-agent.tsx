import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi, useApp } from '../../shell/app-context.ts'
import { buttonClass } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { Title } from '../../ui/title.tsx'
import { useLiveTurns } from '../chat/use-live-turns.ts'
import { ConversationHeader } from './conversation-header.tsx'
import { conversationsQuery, everyConversationQuery, rosterQuery, workspaceCalls } from './queries.ts'
import { SideRail } from './side-rail.tsx'
import { WorkspaceConversation } from './workspace-conversation.tsx'

/** A conversation by its ID, with any agent. */
export function SelectedConversation({ id }: { id: string }) {
  const every = useQuery(everyConversationQuery(useApi()))
  const found = every.data?.find((conversation) => conversation.id === id)
  if (found) return <SelectedAgent name={found.agent_name} chat={id} />
  if (every.error && !every.data) {
    return (
      <ErrorState
        title="Could not load the conversation"
        error={every.error}
        onRetry={() => void every.refetch()}
      />
    )
  }
  // A new conversation appears in the next response.
  if (!every.data || every.isFetching) return <SkeletonList rows={6} label="Loading conversation" />
  return <EmptyState isPage title="Conversation not found" action={<ToAgents />} />
}

/** One agent with the conversation of this ID, or Main. */
export function SelectedAgent({ name, chat }: { name: string; chat: string | null }) {
  const roster = useQuery(rosterQuery(useApi()))
  if (roster.data?.agents.every((agent) => agent.name !== name))
    return <EmptyState isPage title={`${name} is not shared with you`} action={<ToAgents />} />
  return <Conversations key={name} name={name} chat={chat} />
}

function Conversations({ name, chat }: { name: string; chat: string | null }) {
  const { api, queries } = useApp()
  const roster = useQuery(rosterQuery(api))
  const conversations = useQuery(conversationsQuery(api, name))
  const turns = useLiveTurns(() => workspaceCalls(api, queries, name))
  const agent = roster.data?.agents.find((each) => each.name === name)
  const shown = conversations.data?.find(({ id, is_main }) => (chat === null ? is_main : id === chat))
  const error = conversations.error ?? roster.error
  if (!agent || !shown) {
    if (error)
      return (
        <ErrorState
          title="Could not load the conversations"
          error={error}
          onRetry={() => void conversations.refetch()}
        />
      )
    return <SkeletonList rows={6} label="Loading conversation" />
  }
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <Title of={[shown.is_main ? null : shown.title, agent.label ?? agent.name, 'Workspace']} />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <ConversationHeader agent={agent} conversation={shown} />
        <WorkspaceConversation
          key={shown.id}
          agent={agent}
          conversation={shown}
          models={roster.data?.model_options ?? []}
          turns={turns}
        />
      </div>
      <SideRail agent={agent} />
    </div>
  )
}

function ToAgents() {
  return (
    <Link to="/workspace" className={buttonClass()}>
      Go to your agents
    </Link>
  )
}
