import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { Suspense } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { meQuery } from '../users/queries.ts'

// Loaded on demand: it contains much code and is not shown initially.
const CreateAgentDialog = lazyPart(async () => (await import('./create-agent-dialog.tsx')).CreateAgentDialog)

const route = getRouteApi('/signed-in/agents')

/** Opens and closes the dialog by the address; null for users who may not create agents. */
export function useCreateAgent(): ((isOpen: boolean) => void) | null {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const navigate = route.useNavigate()
  if (me.role !== 'admin' && me.role !== 'creator') return null
  return (isOpen) =>
    void navigate({
      search: (now) => ({
        ...now,
        create: isOpen || undefined,
        template: isOpen ? now.template : undefined,
      }),
      replace: true,
    })
}

/** The button in the header of the page, and the dialog. */
export function CreateAgent() {
  const { create, template } = route.useSearch()
  const setOpen = useCreateAgent()
  if (!setOpen) return null
  return (
    <>
      <Button variant="primary" icon={<Plus />} onClick={() => setOpen(true)}>
        Create agent
      </Button>
      {create && (
        <Suspense fallback={null}>
          <CreateAgentDialog open onOpenChange={setOpen} template={template} />
        </Suspense>
      )}
    </>
  )
}
