import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { GitBranch, LayoutTemplate, ListPlus, RefreshCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { meQuery } from '../users/queries.ts'
import { useRefresh } from './actions.ts'
import { FromRepositoryDialog } from './from-repository-dialog.tsx'
import { templatesQuery } from './queries.ts'
import { RepositoriesDialog } from './repositories-dialog.tsx'
import { TemplateCard } from './template-card.tsx'
import { TemplateSheet } from './template-sheet.tsx'

const route = getRouteApi('/signed-in/library')
type Search = ReturnType<typeof route.useSearch>

/** The templates for new agents. */
export function TemplateGallery() {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const { q, template } = route.useSearch()
  const navigate = route.useNavigate()
  const templates = useQuery(templatesQuery(api))
  const refresh = useRefresh()
  const [open, setOpen] = useState<'address' | 'list' | null>(null)
  const change = (next: Partial<Search>) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace: true, resetScroll: false })
  const use = (id: string) => change({ create: true, from: id, template: undefined })
  const mayCreate = me.role === 'admin' || me.role === 'creator'
  const word = (q ?? '').trim().toLowerCase()
  const all = templates.data ?? []
  const shown = all.filter(({ id, display_name, description }) =>
    `${id} ${display_name} ${description}`.toLowerCase().includes(word),
  )
  return (
    <section aria-label="Templates" className="min-w-0">
      <CardHeader
        title="Templates"
        description="Templates for new agents, with instructions, schedules and required credentials."
        actions={
          <>
            {me.role === 'admin' && (
              <>
                <Button
                  icon={<RefreshCw aria-hidden />}
                  pending={refresh.isPending}
                  onClick={() => refresh.mutate()}
                >
                  Refresh
                </Button>
                <Button icon={<ListPlus aria-hidden />} onClick={() => setOpen('list')}>
                  Template repositories
                </Button>
              </>
            )}
            {mayCreate && (
              <Button icon={<GitBranch aria-hidden />} onClick={() => setOpen('address')}>
                Use repository
              </Button>
            )}
          </>
        }
      />
      <SearchInput
        label="Search templates"
        value={q ?? ''}
        onValueChange={(text) => change({ q: text || undefined })}
        className="mb-3 w-full sm:w-64"
      />
      {templates.isError && !templates.data ? (
        <ErrorState
          title="Could not load the templates"
          error={templates.error}
          onRetry={() => void templates.refetch()}
          className="max-w-none rounded-lg border border-line bg-surface"
        />
      ) : !templates.data ? (
        <Cards>
          {[1, 2, 3, 4].map((each) => (
            <li key={each}>
              <Skeleton className="h-44 rounded-lg" />
            </li>
          ))}
        </Cards>
      ) : shown.length === 0 ? (
        <EmptyState
          icon={<LayoutTemplate aria-hidden />}
          title={word === '' ? 'No templates yet' : 'No matching templates'}
          description={word === '' ? 'Admins can add template repositories.' : undefined}
          action={word !== '' && <Button onClick={() => change({ q: undefined })}>Clear search</Button>}
          className="max-w-none rounded-lg border border-line bg-surface"
        />
      ) : (
        <Cards>
          {shown.map((entry) => (
            <li key={entry.id} className="min-w-0">
              <TemplateCard entry={entry} onUse={mayCreate ? () => use(entry.id) : null} />
            </li>
          ))}
        </Cards>
      )}
      <TemplateSheet
        id={template ?? null}
        onClose={() => change({ template: undefined })}
        onUse={mayCreate ? use : null}
      />
      <FromRepositoryDialog open={open === 'address'} onClose={() => setOpen(null)} onUse={use} />
      <RepositoriesDialog open={open === 'list'} onClose={() => setOpen(null)} />
    </section>
  )
}

function Cards({ children }: { children: ReactNode }) {
  return (
    <ul aria-label="Templates" className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {children}
    </ul>
  )
}
