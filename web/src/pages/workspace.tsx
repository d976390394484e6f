import { createLazyRoute } from '@tanstack/react-router'
import { Workspace } from '../features/workspace-chat/workspace.tsx'

export const route = createLazyRoute('/signed-in/workspace')({ component: Everybody })
export const agentRoute = createLazyRoute('/signed-in/workspace/$agent')({ component: WithAgent })

function Everybody() {
  return <Workspace agent={null} chat={null} />
}

function WithAgent() {
  const { agent } = agentRoute.useParams()
  const { chat = null } = agentRoute.useSearch()
  return <Workspace agent={agent} chat={chat} />
}
