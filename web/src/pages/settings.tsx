import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { meQuery } from '../features/users/queries.ts'
import { AdminsOnly } from '../shell/admins-only.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { PageHelp } from '../shell/page-help.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Title } from '../ui/title.tsx'
import { type PageTab, TabbedPage } from './tabbed-page.tsx'

export const route = createLazyRoute('/signed-in/settings')({ component: Settings })

const tabs: readonly PageTab[] = [
  {
    id: 'general',
    label: 'General',
    guide: 'how-to/models',
    width: 'text',
    Content: lazyPart(async () => (await import('../features/settings/general-tab.tsx')).GeneralTab),
  },
  {
    id: 'integrations',
    label: 'Integrations',
    guide: 'how-to/models',
    width: 'text',
    Content: lazyPart(
      async () => (await import('../features/settings/integrations-tab.tsx')).IntegrationsTab,
    ),
  },
  {
    id: 'agents',
    label: 'Agent defaults',
    guide: 'how-to/limits',
    width: 'text',
    Content: lazyPart(async () => (await import('../features/settings/agents-tab.tsx')).AgentDefaultsTab),
  },
  {
    id: 'prices',
    label: 'Model prices',
    guide: 'operate/costs',
    Content: lazyPart(async () => (await import('../features/model-prices/prices-tab.tsx')).PricesTab),
  },
  {
    id: 'retention',
    label: 'Limits and retention',
    guide: 'operate/retention',
    width: 'text',
    Content: lazyPart(async () => (await import('../features/settings/ops-tab.tsx')).OpsTab),
  },
  {
    id: 'backups',
    label: 'Backups',
    guide: 'operate/backup',
    width: 'text',
    Content: lazyPart(async () => (await import('../features/backups/backups-tab.tsx')).BackupsTab),
  },
]

/** Settings of the platform. Those of a user are on the account page. */
function Settings() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const { tab } = route.useSearch()
  if (me.role === 'admin') return <TabbedPage title="Settings" to="/settings" tabs={tabs} tab={tab} />
  return (
    <Page>
      <Title of={['Settings']} />
      <PageHeader title="Settings" aside={<PageHelp guide="how-to/models" topic="Settings" />} />
      <AdminsOnly what="change the settings of the platform" />
    </Page>
  )
}
