import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { CallButton } from './call-button.tsx'
import { voiceStatusQuery } from './queries.ts'

/** The button beside a conversation; absent while the platform has no key for voices. */
export function ChatCall({
  agent: { name, label },
  sessionId,
  staleAfter,
}: {
  agent: AgentDetails
  sessionId: string | null
  /** Keys of what a call adds to. */
  staleAfter: readonly unknown[]
}) {
  const queries = useQueryClient()
  const status = useQuery(voiceStatusQuery(useApi(), name))
  if (!status.data?.enabled) return null
  return (
    <CallButton
      target={{ agentName: name, sessionId, place: 'chat' }}
      agentLabel={label ?? name}
      obstacle={status.data.available ? null : 'The agent has to run to be called'}
      onEnded={() => void queries.invalidateQueries({ queryKey: staleAfter })}
    />
  )
}
