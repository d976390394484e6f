import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ChatSession } from '@roost/contracts/conversations/chat'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Eye, MessageSquarePlus, Play } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { useAgentPower } from '../agents/actions.ts'
import { meQuery } from '../users/queries.ts'

export type ChatObstacleProps = { agent: AgentDetails; session: ChatSession | null; onLeave: () => void }

/** Why nothing can be sent here at the moment, and what to do; nothing when all is well. */
export function ChatObstacle({ agent, session, onLeave }: ChatObstacleProps) {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const { start, pending } = useAgentPower(agent.name)
  const name = agent.label ?? agent.name
  if (session && session.user_id !== me.id) {
    return (
      <Banner tone="neutral" className="mb-2" icon={<Eye aria-hidden />}>
        You are reading a conversation of {session.user_email ?? 'somebody else'}. That you read it is in the
        audit log.
      </Banner>
    )
  }
  if (session?.status === 'closed') {
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
  }
  if (agent.status === 'running') return null
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
      {agent.status === 'exited' ? `${name} has ended by itself.` : `${name} is stopped.`} Start it to chat.
    </Banner>
  )
}

/** Whether the obstacle above stands in the way. */
export function isBlocked(agent: AgentDetails, session: ChatSession | null, myId: string): boolean {
  return agent.status !== 'running' || session?.status === 'closed' || (session?.user_id ?? myId) !== myId
}
