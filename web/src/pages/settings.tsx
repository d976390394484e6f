import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { meQuery } from '../features/users/queries.ts'
import { useApi } from '../shell/app-context.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { type PageTab, TabbedPage } from './tabbed-page.tsx'

export const route = createLazyRoute('/signed-in/settings')({ component: Settings })

type SettingsTab = PageTab & { isForAdmins: boolean }

const tabs: SettingsTab[] = [
  {
    id: 'general',
    label: 'General',
    guide: 'how-to/models',
    isForAdmins: true,
    width: 'text',
    Content: lazyPart(async () => (await import('../features/settings/general-tab.tsx')).GeneralTab),
  },
  {
    id: 'access',
    label: 'Users and access',
    guide: 'operate/sign-in',
    isForAdmins: true,
    Content: lazyPart(async () => (await import('./settings-access.tsx')).AccessTab),
  },
  {
    id: 'integrations',
    label: 'Integrations',
    guide: 'how-to/models',
    isForAdmins: true,
    width: 'text',
    Content: lazyPart(
      async () => (await import('../features/settings/integrations-tab.tsx')).IntegrationsTab,
    ),
  },
  {
    id: 'keys',
    label: 'MCP keys',
    guide: 'operate/keys',
    isForAdmins: false,
    Content: lazyPart(async () => (await import('../features/keys/keys-tab.tsx')).KeysTab),
  },
  {
    id: 'agents',
    label: 'Agent defaults',
    guide: 'how-to/limits',
    isForAdmins: true,
    width: 'text',
    Content: lazyPart(async () => (await import('../features/settings/agents-tab.tsx')).AgentDefaultsTab),
  },
  {
    id: 'prices',
    label: 'Model prices',
    guide: 'operate/costs',
    isForAdmins: true,
    Content: lazyPart(async () => (await import('../features/model-prices/prices-tab.tsx')).PricesTab),
  },
  {
    id: 'retention',
    label: 'Limits and retention',
    guide: 'operate/retention',
    isForAdmins: true,
    width: 'text',
    Content: lazyPart(async () => (await import('../features/settings/ops-tab.tsx')).OpsTab),
  },
  {
    id: 'backups',
    label: 'Backups',
    guide: 'operate/backup',
    isForAdmins: true,
    width: 'text',
    Content: lazyPart(async () => (await import('../features/backups/backups-tab.tsx')).BackupsTab),
  },
  {
    id: 'audit',
    label: 'Audit log',
    guide: 'operate/audit-log',
    isForAdmins: true,
    Content: lazyPart(async () => (await import('../features/audit/audit-tab.tsx')).AuditTab),
  },
]

/** Settings of the platform. Users who are not admins see only their own. */
function Settings() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const { tab } = route.useSearch()
  const shown = tabs.filter(({ isForAdmins }) => me.role === 'admin' || !isForAdmins)
  return <TabbedPage title="Settings" to="/settings" tabs={shown} tab={tab} />
}
