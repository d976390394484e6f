import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft, MessagesSquare } from 'lucide-react'
import { useEffect, useState } from 'react'
import { browserSetting } from '../../live/stream-setting.ts'
import { useApi } from '../../shell/app-context.ts'
import { buttonClass } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { createLiveTurns } from '../chat/live-turns.ts'
import { newKey } from '../chat/use-live-turns.ts'
import { Asks } from './asks.tsx'
import { conversationsQuery, rosterQuery, workspaceCalls } from './queries.ts'
import { Roster } from './roster.tsx'
import { WorkspaceConversation } from './workspace-conversation.tsx'

type WorkspaceProps = { agent: string | null; chat: string | null }

/** Where people talk to the agents that are shared with them. */
export function Workspace({ agent: selected, chat }: WorkspaceProps) {
  const roster = useQuery(rosterQuery(useApi()))
  if (!roster.data) {
    if (!roster.error) return <SkeletonList rows={6} label="Loading your agents" />
    return (
      <ErrorState
        title="Your agents could not be loaded"
        error={roster.error}
        onRetry={() => void roster.refetch()}
      />
    )
  }
  const agents = roster.data
  const agent = agents.find(({ name }) => name === selected) ?? null
  // A page has one title: that of the conversation where one is shown.
  const Heading = selected === null ? 'h1' : 'p'
  return (
    <div className="flex min-h-96 min-w-0 flex-1 basis-0">
      <aside
        aria-label="Your agents"
        className={cx(
          'w-full shrink-0 overflow-y-auto border-line md:block md:w-64 md:border-r',
          selected !== null && 'hidden',
        )}
      >
        <Heading className="px-4 pt-4 pb-1 font-semibold text-lg">Workspace</Heading>
        <div className="px-4 py-2 md:hidden">
          <Asks />
        </div>
        {agents.length === 0 ? (
          <EmptyState
            icon={<MessagesSquare aria-hidden />}
            title="No agent is shared with you"
            description="Ask the owner of one to share it with your address."
          />
        ) : (
          <Roster agents={agents} selected={agent?.name ?? null} chat={chat} />
        )}
      </aside>
      <div className={cx('min-h-0 min-w-0 flex-1 flex-col md:flex', selected === null ? 'hidden' : 'flex')}>
        {agent ? (
          <Chosen key={agent.name} agent={agent} chat={chat} />
        ) : selected === null ? (
          <div className="mx-auto w-full max-w-2xl overflow-y-auto px-6 py-8">
            <Asks />
            <EmptyState title="Choose an agent to talk to" />
          </div>
        ) : (
          <EmptyState
            isPage
            title={`${selected} is not shared with you`}
            action={
              <Link to="/workspace" className={buttonClass()}>
                To your agents
              </Link>
            }
          />
        )}
      </div>
    </div>
  )
}

function Chosen({ agent, chat }: { agent: RosterAgent; chat: string | null }) {
  const { name } = agent
  const conversations = useQuery(conversationsQuery(useApi(), name))
  const turns = useWorkspaceTurns(name)
  const shown = conversations.data?.find(({ id, is_main, archived_at }) =>
    chat === null ? is_main && archived_at === null : id === chat,
  )
  return (
    <>
      <div className="flex h-11 shrink-0 items-center gap-2 border-b border-line px-3 md:px-6">
        <Link
          to="/workspace"
          aria-label="To your agents"
          className="grid size-8 place-items-center rounded-md text-muted hover:bg-hover md:hidden"
        >
          <ArrowLeft aria-hidden className="size-4" />
        </Link>
        <h1 className="min-w-0 truncate font-medium text-sm">
          {agent.label ?? name}
          <span className="text-muted"> · {shown?.is_main ? 'Main' : (shown?.title ?? 'Conversation')}</span>
        </h1>
      </div>
      {shown ? (
        <WorkspaceConversation key={shown.id} agent={agent} sessionId={shown.id} turns={turns} />
      ) : conversations.error ? (
        <ErrorState
          title="The conversations could not be loaded"
          error={conversations.error}
          onRetry={() => void conversations.refetch()}
        />
      ) : conversations.data ? (
        <EmptyState title="There is no such conversation" />
      ) : (
        <SkeletonList rows={6} label="Loading the conversation" />
      )}
    </>
  )
}

/** Text is drawn so often: each time costs a reading of the block that grows. */
const frameMs = 40

function useWorkspaceTurns(name: string) {
  const api = useApi()
  const queries = useQueryClient()
  const [turns] = useState(() =>
    createLiveTurns({
      ...workspaceCalls(api, queries, name),
      setting: browserSetting(),
      gather: (run) => void setTimeout(run, frameMs),
      now: () => new Date(),
      newKey,
    }),
  )
  useEffect(() => () => turns.close(), [turns])
  return turns
}
