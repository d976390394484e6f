import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ChatSession } from '@roost/contracts/conversations/chat'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { CallButton } from './call-button.tsx'
import { voiceStatusQuery } from './queries.ts'

export type ChatCallProps = {
  agent: AgentDetails
  /** Null: a conversation that begins with the call. */
  sessionId: string | null
  /** Keys of the queries that a call changes. */
  staleAfter: readonly unknown[]
  onBegin: () => Promise<ChatSession>
  onBegun: (session: ChatSession) => void
}

/** The call button of a conversation; absent while the platform has no voice provider key. */
export function ChatCall({ agent, sessionId, staleAfter, onBegin, onBegun }: ChatCallProps) {
  const { name, label } = agent
  const queries = useQueryClient()
  const status = useQuery(voiceStatusQuery(useApi(), name))
  const begun = useRef<ChatSession | null>(null)
  if (!status.data?.enabled) return null
  return (
    <CallButton
      target={{
        place: 'chat',
        agentName: name,
        sessionId,
        async begin() {
          begun.current = await onBegin()
          return begun.current.id
        },
      }}
      agentLabel={label ?? name}
      obstacle={status.data.available ? null : 'Start the agent to call it'}
      onEnded={() => {
        void queries.invalidateQueries({ queryKey: staleAfter })
        if (begun.current) onBegun(begun.current)
        begun.current = null
      }}
    />
  )
}
