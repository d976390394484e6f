import {
  deletePublicLink,
  type PublicLink,
  updatePublicLink,
} from '@roost/contracts/conversations/public-links'
import { useQuery } from '@tanstack/react-query'
import { LinkIcon, Plus } from 'lucide-react'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { rowsOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { LinkDialog, type LinkDialogProps } from './link-dialog.tsx'
import { LinkRow, titleOf } from './link-row.tsx'
import { publicLinksKey, publicLinksQuery } from './queries.ts'

/** Links for people without an account to chat with the agent. */
export function PublicLinksPanel({ name }: { name: string }) {
  const { api } = useApp()
  const links = useQuery(publicLinksQuery(api, name))
  const [editing, setEditing] = useState<LinkDialogProps['link']>(null)
  const { pending, remove, change } = useLinkActions(name)
  if (!links.data) {
    if (!links.error) return <Skeleton className="h-28" />
    return (
      <ErrorState
        title="Could not load the public links"
        error={links.error}
        onRetry={() => void links.refetch()}
        className="w-full max-w-none rounded-lg border border-line bg-surface"
      />
    )
  }
  const shown = links.data.filter(({ id }) => !pending.has(id))
  const add = (
    <Button icon={<Plus aria-hidden />} onClick={() => setEditing('new')}>
      Create link
    </Button>
  )
  return (
    <>
      {shown.length === 0 ? (
        <EmptyState
          className="w-full max-w-none rounded-lg border border-line bg-surface"
          icon={<LinkIcon aria-hidden />}
          title="No public links yet"
          description="Create a link to let people without an account chat with this agent."
          action={add}
        />
      ) : (
        <>
          <ul
            aria-label="Public links"
            className="divide-y divide-line rounded-lg border border-line bg-surface"
          >
            {shown.map((link) => (
              <LinkRow
                key={link.id}
                link={link}
                onSwitch={(enabled) => change.mutate({ id: link.id, enabled })}
                onEdit={() => setEditing(link)}
                onDelete={() => remove(link)}
              />
            ))}
          </ul>
          <div>{add}</div>
        </>
      )}
      <LinkDialog name={name} link={editing} onClose={() => setEditing(null)} />
    </>
  )
}

function useLinkActions(name: string) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const { queryKey } = publicLinksQuery(api, name)
  const fetched = () => queries.invalidateQueries({ queryKey: publicLinksKey(name) })
  const showFault = (error: unknown) => {
    const { sentence, code } = describeFault(error)
    toast({ title: sentence, description: code, tone: 'danger' })
  }
  const change = useOptimisticSave({
    queryKey: publicLinksKey(name),
    save: ({ id, enabled }: { id: string; enabled: boolean }) =>
      api.call(updatePublicLink, { params: { name, id }, body: { enabled } }),
    shows: ({ id, enabled }) => [rowsOf<PublicLink>(queryKey, (link) => link.id === id, { enabled })],
  })
  const remove = (link: PublicLink) =>
    later({
      id: link.id,
      title: `${titleOf(link)} deleted.`,
      description: 'Its conversations are deleted too.',
      run: async () => {
        await api.call(deletePublicLink, { params: { name, id: link.id } }).catch(showFault)
        await fetched()
      },
    })
  return { pending, remove, change }
}
