import { createLazyRoute } from '@tanstack/react-router'
import { operationsTabs } from './operations-tabs.ts'
import { TabbedPage } from './tabbed-page.tsx'

export const route = createLazyRoute('/signed-in/operations')({ component: Operations })

/** Everything that spans all agents. */
function Operations() {
  const { tab } = route.useSearch()
  return <TabbedPage title="Operations" to="/operations" tabs={operationsTabs} tab={tab} />
}
