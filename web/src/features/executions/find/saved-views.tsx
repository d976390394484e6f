import { formatRunQuery, parseRunQuery, type RunQuery } from '@roost/contracts/runs/run-query'
import type { RunView } from '@roost/contracts/runs/run-views'
import { useQuery } from '@tanstack/react-query'
import { Bookmark, Check } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useApi } from '../../../shell/app-context.ts'
import { Button } from '../../../ui/button.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Menu, type MenuItem } from '../../../ui/menu.tsx'
import { usualHours } from './period-picker.tsx'
import { viewsQuery } from './view-queries.ts'

const SaveView = lazyPart(async () => (await import('./view-dialogs.tsx')).SaveView)
const ManageViews = lazyPart(async () => (await import('./view-dialogs.tsx')).ManageViews)

/** Named filters: applies, saves and manages them. */
export function SavedViews({ query, onApply }: { query: RunQuery; onApply: (query: RunQuery) => void }) {
  const views = useQuery(viewsQuery(useApi()))
  const [dialog, setDialog] = useState<'save' | 'manage' | null>(null)
  const written = formatRunQuery(query)
  const all = views.data ?? []
  const current = all.find((view) => writtenOf(view) === written)
  const itemOf = (view: RunView): MenuItem => ({
    label: view.name,
    hint: view.query || 'No filter',
    icon: view === current ? <Check aria-hidden /> : <span className="size-4" />,
    onSelect: () => onApply(parseRunQuery(view.query).query ?? {}),
  })
  const own = all.filter(({ is_own }) => is_own)
  const shared = all.filter(({ is_own }) => !is_own)
  return (
    <>
      <Menu
        align="start"
        trigger={
          <Button icon={<Bookmark aria-hidden />} className="max-w-full">
            <span className="truncate">{current ? `View: ${current.name}` : 'Saved views'}</span>
          </Button>
        }
        items={[
          views.isError && { heading: 'Could not load the saved views' },
          own.length > 0 && { heading: 'Your views' },
          ...own.map(itemOf),
          shared.length > 0 && { heading: 'Shared by others' },
          ...shared.map(itemOf),
          all.length > 0 && 'separator',
          { label: 'Save this filter…', onSelect: () => setDialog('save') },
          all.some(({ may_change }) => may_change) && {
            label: 'Manage views…',
            onSelect: () => setDialog('manage'),
          },
        ]}
      />
      <Suspense fallback={null}>
        {dialog === 'save' && <SaveView query={written} view={null} onClose={() => setDialog(null)} />}
        {dialog === 'manage' && <ManageViews views={all} onClose={() => setDialog(null)} />}
      </Suspense>
    </>
  )
}

/** The filter of a view as the page writes it. */
function writtenOf(view: RunView): string | null {
  const { query } = parseRunQuery(view.query)
  if (query === null) return null
  const { hours, ...rest } = query
  return formatRunQuery(hours === undefined || hours === usualHours ? rest : { ...rest, hours })
}
