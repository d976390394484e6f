import { CreateRunView, type RunView } from '@roost/contracts/runs/run-views'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../../shell/app-context.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../../ui/dialog.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Form, FormError, SwitchField, TextField, useZodForm } from '../../../ui/form.tsx'
import { toast } from '../../../ui/toast.tsx'
import { meQuery } from '../../users/queries.ts'
import { useDeleteView, useSaveView } from './view-queries.ts'

type SaveViewProps = {
  query: string
  /** The view to change; null for a new one. */
  view: RunView | null
  onClose: () => void
}

export function SaveView({ query, view, onClose }: SaveViewProps) {
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={view ? 'Change view' : 'Save view'}
      description="A view is a named filter. Everyone sees only runs of agents they have access to."
    >
      <ViewForm query={query} view={view} onClose={onClose} />
    </Dialog>
  )
}

function ViewForm({ query, view, onClose }: SaveViewProps) {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const save = useSaveView()
  const form = useZodForm(CreateRunView, {
    defaultValues: { name: view?.name ?? '', query: view?.query ?? query, shared: view?.shared ?? false },
  })
  return (
    <Form
      form={form}
      label="View"
      onSubmit={async (fields) => {
        await save.mutateAsync({ id: view?.id ?? null, fields })
        toast({ title: view ? 'View changed.' : 'View saved.', tone: 'success' })
        onClose()
      }}
    >
      <TextField name="name" label="Name" required autoFocus maxLength={80} />
      <TextField name="query" label="Filter" maxLength={1000} hint="Without “since”, the last 24 hours." />
      {me.role !== 'user' && (
        <SwitchField
          name="shared"
          label="Share"
          hint="Listed for all operators, creators and admins who can access the agent that the filter names."
        />
      )}
      <FormError />
      <DialogButtons>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Save view
        </Button>
      </DialogButtons>
    </Form>
  )
}

/** The views that the person may change. */
export function ManageViews({ views, onClose }: { views: readonly RunView[]; onClose: () => void }) {
  const [changed, setChanged] = useState<RunView | null>(null)
  const remove = useDeleteView()
  const shown = views.filter(({ may_change }) => may_change)
  if (changed) return <SaveView query={changed.query} view={changed} onClose={() => setChanged(null)} />
  return (
    <Dialog open onOpenChange={onClose} title="Manage views" size="lg">
      {shown.length === 0 ? (
        <EmptyState title="No saved views" />
      ) : (
        <ul aria-label="Views" className="flex flex-col divide-y divide-line">
          {shown.map((view) => (
            <li key={view.id} className="flex min-w-0 items-center gap-2 py-2">
              <span className="flex min-w-0 flex-1 flex-col gap-0.5">
                <span className="flex min-w-0 flex-wrap items-center gap-2">
                  <span className="min-w-0 truncate font-medium">{view.name}</span>
                  {view.shared && <Badge>{view.is_own ? 'shared' : 'shared by another person'}</Badge>}
                </span>
                <span className="font-mono text-muted text-xs [overflow-wrap:anywhere]">
                  {view.query || 'No filter'}
                </span>
              </span>
              <IconButton
                label={`Change the view ${view.name}`}
                icon={<Pencil aria-hidden />}
                onClick={() => setChanged(view)}
              />
              <IconButton
                label={`Delete the view ${view.name}`}
                icon={<Trash2 aria-hidden />}
                pending={remove.isPending && remove.variables === view.id}
                onClick={() => remove.mutate(view.id)}
              />
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}
