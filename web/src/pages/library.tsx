import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { Suspense } from 'react'
import { meQuery } from '../features/users/queries.ts'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { TabLinks, tabLinkClass } from '../ui/tabs.tsx'
import { libraryTabs } from './library-tabs.ts'

const CreateAgentDialog = lazyPart(
  async () => (await import('../features/agents/create-agent-dialog.tsx')).CreateAgentDialog,
)

export const route = createLazyRoute('/signed-in/library')({ component: Library })

/** What agents are made from, and what they can be taught. */
function Library() {
  const { tab, skill, create, from } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const mayCreate = me.role === 'admin' || me.role === 'creator'
  const chosen = libraryTabs.find(({ id }) => id === tab) ?? libraryTabs[0]
  return (
    <Page>
      {/* The page of one skill has a heading of its own, and a way back. */}
      {skill === undefined && (
        <>
          <PageHeader title="Library" />
          <TabLinks label="Library" className="mb-5">
            {libraryTabs.map(({ id, label }) => (
              <Link
                key={id}
                to="/library"
                search={{ tab: id }}
                className={tabLinkClass}
                aria-current={id === chosen?.id ? 'page' : undefined}
              >
                {label}
              </Link>
            ))}
          </TabLinks>
        </>
      )}
      <Suspense fallback={<Skeleton className="h-72 w-full" />}>{chosen && <chosen.Content />}</Suspense>
      {create && mayCreate && (
        <Suspense fallback={null}>
          <CreateAgentDialog
            open
            onOpenChange={() =>
              void navigate({
                search: (now) => ({ ...now, create: undefined, from: undefined }),
                replace: true,
                resetScroll: false,
              })
            }
            {...(from === undefined ? {} : { template: from })}
          />
        </Suspense>
      )}
    </Page>
  )
}
