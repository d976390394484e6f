import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { Suspense } from 'react'
import { meQuery } from '../features/users/queries.ts'
import { useApi } from '../shell/app-context.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { libraryTabs } from './library-tabs.ts'
import { TabbedPage } from './tabbed-page.tsx'

const CreateAgentDialog = lazyPart(
  async () => (await import('../features/agents/create-agent-dialog.tsx')).CreateAgentDialog,
)

export const route = createLazyRoute('/signed-in/library')({ component: Library })

/** Templates that create agents, and skills that can be assigned to them. */
function Library() {
  const { tab, skill, create, from } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const mayCreate = me.role === 'admin' || me.role === 'creator'
  return (
    // The page of one skill has its own heading.
    <TabbedPage title="Library" to="/library" tabs={libraryTabs} tab={tab} isInside={skill !== undefined}>
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
    </TabbedPage>
  )
}
