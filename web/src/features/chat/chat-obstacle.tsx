import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ChatSession } from '@roost/contracts/conversations/chat'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Eye, MessageSquarePlus, Play } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { useAgentPower } from '../agents/actions.ts'
import { meQuery } from '../users/queries.ts'

/** Why no message can be sent; null when it can. */
export type Obstacle = { kind: 'foreign'; owner: string } | { kind: 'closed' } | { kind: 'down' }

export function useChatObstacle(
  agent: AgentDetails,
  session: ChatSession | null,
  isClosing: boolean,
): Obstacle | null {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  if (session && session.user_id !== me.id) {
    return { kind: 'foreign', owner: session.user_email ?? 'another user' }
  }
  if (isClosing || session?.status === 'closed') return { kind: 'closed' }
  return agent.status === 'running' ? null : { kind: 'down' }
}

export type ChatObstacleProps = { obstacle: Obstacle; agent: AgentDetails; onLeave: () => void }

/** Explains why no message can be sent, and what to do. */
export function ChatObstacle({ obstacle, agent, onLeave }: ChatObstacleProps) {
  switch (obstacle.kind) {
    case 'foreign':
      return (
        <Banner tone="neutral" className="mb-2" icon={<Eye aria-hidden />}>
          You are reading a conversation of {obstacle.owner}. Your access is recorded in the audit log.
        </Banner>
      )
    case 'closed':
      return (
        <Banner
          tone="neutral"
          className="mb-2"
          action={
            <Button size="sm" icon={<MessageSquarePlus aria-hidden />} onClick={onLeave}>
              New conversation
            </Button>
          }
        >
          This conversation is closed.
        </Banner>
      )
    case 'down':
      return <AgentDown agent={agent} />
  }
}

function AgentDown({ agent }: { agent: AgentDetails }) {
  const { start, pending } = useAgentPower(agent.name)
  const name = agent.label ?? agent.name
  return (
    <Banner
      tone="warning"
      className="mb-2"
      action={
        <Button size="sm" icon={<Play aria-hidden />} pending={pending === 'start'} onClick={start}>
          Start
        </Button>
      }
    >
      {agent.status === 'exited' ? `${name} has exited.` : `${name} is stopped.`} Start the agent to chat.
    </Banner>
  )
}
