import { createLazyRoute } from '@tanstack/react-router'
import { inboxTabs } from './inbox-tabs.ts'
import { TabbedPage } from './tabbed-page.tsx'

export const route = createLazyRoute('/signed-in/inbox')({ component: InboxPage })

/** What agents ask, tell and report. */
function InboxPage() {
  const { tab } = route.useSearch()
  return <TabbedPage title="Inbox" to="/inbox" tabs={inboxTabs} tab={tab} />
}
