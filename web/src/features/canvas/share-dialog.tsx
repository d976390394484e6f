import type { CanvasSummary } from '@roost/contracts/conversations/canvas'
import { type ShareScope, shareCanvas } from '@roost/contracts/conversations/canvas-shares'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { RadioCards } from '../../ui/radio-cards.tsx'
import { Select } from '../../ui/select.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { canvasKey, sharesQuery } from './queries.ts'
import { ShareList } from './share-list.tsx'

const scopes = [
  {
    value: 'authorized',
    label: 'People with access to the agent',
    hint: 'They must sign in. Roost checks the access on each visit.',
  },
  { value: 'public', label: 'Anyone with the link', hint: 'No sign-in required.' },
] as const
const ends = [
  { value: 'never', label: 'Never' },
  { value: '1', label: 'In 1 day' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
] as const
type End = (typeof ends)[number]['value']

/** The share links of one canvas, and a form for a new one. */
export function ShareDialog({ canvas, onClose }: { canvas: CanvasSummary; onClose: () => void }) {
  const { agent_name: name, canvas_id: id } = canvas
  const shares = useQuery(sharesQuery(useApi(), name, id))
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Share canvas"
      description="A link always shows the current state of the canvas."
    >
      <NewLink name={name} id={id} />
      <h3 className="mt-6 mb-2 font-semibold text-sm">Existing links</h3>
      {shares.data ? (
        <ShareList name={name} shares={shares.data} />
      ) : shares.error ? (
        <ErrorState
          title="Could not load the links"
          error={shares.error}
          onRetry={() => void shares.refetch()}
        />
      ) : (
        <SkeletonList rows={2} label="Loading links" />
      )}
    </Dialog>
  )
}

function NewLink({ name, id }: { name: string; id: string }) {
  const { api, queries } = useApp()
  const [scope, setScope] = useState<ShareScope>('authorized')
  const [end, setEnd] = useState<End>('never')
  const create = useMutation({
    mutationFn: () =>
      api.call(shareCanvas, {
        params: { name, canvas_id: id },
        body: { scope, expires_at: end === 'never' ? null : daysAhead(Number(end)) },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: canvasKey(name) }),
  })
  return (
    <div className="flex flex-col gap-3">
      {create.error && <Banner tone="danger">{describeFault(create.error).sentence}</Banner>}
      <RadioCards label="Who can view the canvas" value={scope} onValueChange={setScope} options={scopes} />
      <div className="flex flex-wrap items-end justify-between gap-3">
        <Field label="Expires">
          <Select value={end} onValueChange={setEnd} options={ends} className="w-40" />
        </Field>
        <Button variant="primary" pending={create.isPending} onClick={() => create.mutate()}>
          Create link
        </Button>
      </div>
    </div>
  )
}

function daysAhead(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString()
}
