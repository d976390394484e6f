import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { SearchX, SunMoon } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { Logo } from '../../shell/logo.tsx'
import { chooseTheme, chosenTheme } from '../../shell/theme.ts'
import { themes } from '../../shell/user-menu.tsx'
import { IconButton } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Title } from '../../ui/title.tsx'
import type { ApiDocument, Operation } from './api-document.ts'
import { groupsOf, OperationLinks, OperationNavigation } from './operation-list.tsx'
import { OperationView } from './operation-view.tsx'
import { documentQuery } from './queries.ts'
import { createSearch } from './search.ts'

type ApiReferenceProps = {
  /** The id of an operation; null for the list of all. */
  operationId: string | null
  query: string
  onQuery(query: string): void
}

/** The API of this installation with search, code samples and a form to send requests. Open to everybody. */
export function ApiReference({ operationId, query, onQuery }: ApiReferenceProps) {
  const api = useQuery(documentQuery)
  return (
    <div className="min-h-dvh bg-canvas text-ink">
      <a
        href="#content"
        className="sr-only rounded-md bg-accent px-3 py-2 text-accent-ink focus:not-sr-only focus:absolute focus:left-3 focus:top-3 focus:z-50"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-20 border-b border-line bg-surface">
        <div className="mx-auto flex h-14 max-w-[110rem] items-center gap-3 px-4">
          <Link
            to="/docs/{-$operation}"
            params={{}}
            search={{}}
            className="flex shrink-0 items-center gap-2 font-semibold tracking-tight"
          >
            <Logo className="size-6 text-accent" />
            <span className="max-sm:sr-only">Roost API</span>
          </Link>
          <search className="min-w-0 flex-1">
            <SearchInput label="Search the API" value={query} onValueChange={onQuery} className="max-w-md" />
          </search>
          <ThemeMenu />
          <Link to="/" className="shrink-0 text-accent text-sm hover:underline">
            Open Roost
          </Link>
        </div>
      </header>
      {api.data ? (
        <Loaded {...api.data} operationId={operationId} query={query} />
      ) : (
        <main id="content" className="mx-auto max-w-[110rem] px-4 py-6">
          {api.error ? (
            <ErrorState
              title="Could not load the API document"
              error={api.error}
              onRetry={() => void api.refetch()}
            />
          ) : (
            <Skeleton className="h-96 w-full" />
          )}
        </main>
      )}
    </div>
  )
}

type LoadedProps = {
  document: ApiDocument
  operations: Operation[]
  operationId: string | null
  query: string
}

function Loaded({ document, operations, operationId, query }: LoadedProps) {
  const groups = useMemo(() => groupsOf(operations), [operations])
  const current = operations.find(({ id }) => id === operationId) ?? null
  const isSearching = query.trim() !== ''
  const title = isSearching ? 'Search' : current?.summary
  return (
    <div className="mx-auto grid max-w-[110rem] gap-8 px-4 lg:grid-cols-[17rem_minmax(0,1fr)]">
      <Title of={[title, 'API']} />
      <div className="sticky top-14 hidden h-[calc(100dvh-3.5rem)] overflow-y-auto py-6 lg:block">
        <OperationNavigation groups={groups} current={current} />
      </div>
      <main id="content" tabIndex={-1} className="min-w-0 py-6 outline-none">
        <details
          key={`${operationId} ${isSearching}`}
          className="mb-4 rounded-md border border-line bg-surface lg:hidden"
        >
          <summary className="cursor-default px-3 py-2 font-medium text-sm">All operations</summary>
          <div className="border-t border-line p-2">
            <OperationNavigation groups={groups} current={current} />
          </div>
        </details>
        {isSearching ? (
          <Results document={document} operations={operations} query={query} />
        ) : current ? (
          <OperationView key={current.id} document={document} operation={current} />
        ) : operationId === null ? (
          <Overview document={document} groups={groups} count={operations.length} />
        ) : (
          <EmptyState
            isPage
            icon={<SearchX aria-hidden />}
            title="Operation not found"
            description={`The API has no operation with the id ${operationId}. Search for it, or choose one from the list.`}
          />
        )}
      </main>
    </div>
  )
}

function Overview({
  document: { info },
  groups,
  count,
}: {
  document: ApiDocument
  groups: ReturnType<typeof groupsOf>
  count: number
}) {
  return (
    <>
      <h1 className="font-semibold text-2xl tracking-tight">API reference</h1>
      <p className="mt-1 max-w-3xl text-muted text-sm">
        {count} operations of version {info.version}. Calls need a bearer token: a session, or a{' '}
        <Link to="/help/$" params={{ _splat: 'operate/keys' }} search={{}} className={linkClass}>
          key
        </Link>
        . Every error has a code with{' '}
        <a href="/help/errors" className={linkClass}>
          its own page
        </a>
        . For generators and other tools, use the{' '}
        <a href="/openapi.json" className={linkClass}>
          OpenAPI document
        </a>
        .
      </p>
      {groups.map(({ tag, operations }) => (
        <section key={tag} className="mt-6 [contain-intrinsic-size:auto_20rem] [content-visibility:auto]">
          <h2 className="mb-2 font-semibold text-base">{tag}</h2>
          <OperationLinks operations={operations} />
        </section>
      ))}
    </>
  )
}

const linkClass = 'text-accent underline decoration-from-font underline-offset-2 hover:text-accent-hover'

/** More results would not be read. */
const maxResults = 60

function Results({ document, operations, query }: Pick<LoadedProps, 'document' | 'operations' | 'query'>) {
  const find = useMemo(() => createSearch(document, operations), [document, operations])
  // Typing stays fluent while the results follow.
  const settled = useDeferredValue(query)
  const found = useMemo(() => find(settled), [find, settled])
  return (
    <>
      <h1 className="font-semibold text-2xl tracking-tight">Search results</h1>
      <p role="status" className="mt-1 mb-4 text-muted text-sm">
        {countLine(settled, found.length)}
      </p>
      {found.length > 0 && <OperationLinks operations={found.slice(0, maxResults)} showsTag />}
    </>
  )
}

function countLine(query: string, count: number): string {
  if (count === 0) return `No operation matches “${query}”. Try fewer or other words.`
  if (count > maxResults) return `The best ${maxResults} of ${count} operations`
  return count === 1 ? '1 operation' : `${count} operations`
}

/** The choice of the theme, also without a sign-in. */
function ThemeMenu() {
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <Menu
      trigger={<IconButton label="Theme" icon={<SunMoon aria-hidden />} variant="ghost" />}
      items={themes.map(({ value, label, icon: Icon }) => ({
        label,
        icon: <Icon aria-hidden />,
        checked: value === theme,
        onSelect: () => {
          setTheme(value)
          chooseTheme(value)
        },
      }))}
    />
  )
}
