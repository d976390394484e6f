import { createLazyRoute } from '@tanstack/react-router'
import { agentsTabs } from './agents-tabs.tsx'
import { TabbedPage } from './tabbed-page.tsx'

export const route = createLazyRoute('/signed-in/agents')({ component: Agents })

/** The agents of the user, their health, and which agent may call which. */
function Agents() {
  const { tab } = route.useSearch()
  return <TabbedPage title="Agents" to="/agents" tabs={agentsTabs} tab={tab} />
}
