import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { type ComponentType, Suspense } from 'react'
import { meQuery } from '../features/users/queries.ts'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { TabLinks, tabLinkClass } from '../ui/tabs.tsx'

export const route = createLazyRoute('/signed-in/settings')({ component: Settings })

type Tab = {
  id: string
  label: string
  isForAdmins: boolean
  /** `wide`: it is mostly tables. */
  width?: 'wide'
  Content: ComponentType
}

const tabs: Tab[] = [
  {
    id: 'general',
    label: 'General',
    isForAdmins: true,
    Content: lazyPart(async () => (await import('../features/settings/general-tab.tsx')).GeneralTab),
  },
  {
    id: 'access',
    label: 'People and access',
    isForAdmins: true,
    width: 'wide',
    Content: lazyPart(async () => (await import('./settings-access.tsx')).AccessTab),
  },
  {
    id: 'integrations',
    label: 'Provider keys',
    isForAdmins: true,
    Content: lazyPart(
      async () => (await import('../features/settings/integrations-tab.tsx')).IntegrationsTab,
    ),
  },
  {
    id: 'keys',
    label: 'MCP keys',
    isForAdmins: false,
    width: 'wide',
    Content: lazyPart(async () => (await import('../features/keys/keys-tab.tsx')).KeysTab),
  },
  {
    id: 'agents',
    label: 'Agent defaults',
    isForAdmins: true,
    Content: lazyPart(async () => (await import('../features/settings/agents-tab.tsx')).AgentDefaultsTab),
  },
  {
    id: 'retention',
    label: 'Limits and retention',
    isForAdmins: true,
    Content: lazyPart(async () => (await import('../features/settings/ops-tab.tsx')).OpsTab),
  },
  {
    id: 'audit',
    label: 'Audit log',
    isForAdmins: true,
    width: 'wide',
    Content: lazyPart(async () => (await import('../features/audit/audit-tab.tsx')).AuditTab),
  },
]

/** Settings of the platform; people who are no admins see what is their own. */
function Settings() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const { tab } = route.useSearch()
  const shown = tabs.filter(({ isForAdmins }) => me.role === 'admin' || !isForAdmins)
  const chosen = shown.find(({ id }) => id === tab) ?? shown[0]
  return (
    <Page width={chosen?.width ?? 'text'}>
      <PageHeader title="Settings" />
      <TabLinks label="Settings" className="mb-6">
        {shown.map(({ id, label }) => (
          <Link
            key={id}
            to="/settings"
            search={{ tab: id }}
            className={tabLinkClass}
            aria-current={id === chosen?.id ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </TabLinks>
      <Suspense fallback={<Skeleton className="h-72 w-full" />}>
        {chosen ? <chosen.Content /> : null}
      </Suspense>
    </Page>
  )
}
