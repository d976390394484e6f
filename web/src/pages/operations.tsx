import { createLazyRoute, Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { Page } from '../shell/page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { TabLinks, tabLinkClass } from '../ui/tabs.tsx'
import { operationsTabs } from './operations-tabs.ts'

export const route = createLazyRoute('/signed-in/operations')({ component: Operations })

/** What goes on over all agents. */
function Operations() {
  const { tab } = route.useSearch()
  const chosen = operationsTabs.find(({ id }) => id === tab) ?? operationsTabs[0]
  return (
    <Page>
      <PageHeader title="Operations" />
      <TabLinks label="Operations" className="mb-5">
        {operationsTabs.map(({ id, label }) => (
          <Link
            key={id}
            to="/operations"
            search={{ tab: id }}
            className={tabLinkClass}
            aria-current={id === chosen?.id ? 'page' : undefined}
          >
            {label}
          </Link>
        ))}
      </TabLinks>
      <Suspense fallback={<Skeleton className="h-72 w-full" />}>{chosen && <chosen.Content />}</Suspense>
    </Page>
  )
}
