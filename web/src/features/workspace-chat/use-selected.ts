import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { conversationsQuery, everyConversationQuery } from './queries.ts'

/** The agent and the conversation in the address; Main by default. Null until known. */
export function useSelected(): { agent: string | null; chat: string | null } {
  const api = useApi()
  const { agent, id } = useParams({ strict: false })
  const every = useQuery({ ...everyConversationQuery(api), enabled: id !== undefined })
  const name = agent ?? every.data?.find((conversation) => conversation.id === id)?.agent_name ?? null
  const conversations = useQuery({ ...conversationsQuery(api, name ?? ''), enabled: name !== null })
  const main = conversations.data?.find(({ is_main }) => is_main)?.id
  return { agent: name, chat: id ?? (agent === undefined ? null : (main ?? null)) }
}
