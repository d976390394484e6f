import { navigation } from 'virtual:guides'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BookX } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { Logo } from '../../shell/logo.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Title } from '../../ui/title.tsx'
import { guideQuery } from './content.ts'
import { GuideArticle } from './guide-article.tsx'
import { GuideLink } from './guide-link.tsx'
import { GuideNavigation, Neighbours, TableOfContents } from './guide-navigation.tsx'
import { GuideResults } from './guide-results.tsx'
import { headingsOf, titleOf } from './guide-text.ts'

type GuidePageProps = {
  /** The path below `docs/`, without `.md`. */
  page: string
  hash: string
  query: string
  onQuery(query: string): void
}

/** The guides with navigation and search. Open to everybody: they contain nothing of this installation. */
export function GuidePage({ page, hash, query, onQuery }: GuidePageProps) {
  const guide = useQuery(guideQuery(page))
  const text = guide.data ?? ''
  const headings = useMemo(() => headingsOf(text).filter(({ depth }) => depth === 2 || depth === 3), [text])
  const isSearching = query.trim() !== ''
  const title = isSearching ? 'Search' : page === 'README' ? null : titleOf(text)
  return (
    <div className="min-h-dvh bg-canvas text-ink">
      <Title of={[title, 'Guides']} />
      <a
        href="#content"
        className="sr-only rounded-md bg-accent px-3 py-2 text-accent-ink focus:not-sr-only focus:absolute focus:left-3 focus:top-3 focus:z-50"
      >
        Skip to content
      </a>
      <header className="sticky top-0 z-20 border-b border-line bg-surface">
        <div className="mx-auto flex h-14 max-w-7xl items-center gap-3 px-4">
          <GuideLink path="/help" className="flex shrink-0 items-center gap-2 font-semibold tracking-tight">
            <Logo className="size-6 text-accent" />
            <span className="max-sm:sr-only">Roost guides</span>
          </GuideLink>
          <search className="min-w-0 flex-1">
            <SearchInput
              label="Search the guides"
              value={query}
              onValueChange={onQuery}
              className="max-w-md"
            />
          </search>
          <Link to="/" className="shrink-0 text-accent text-sm hover:underline">
            Open Roost
          </Link>
        </div>
      </header>
      <div className="mx-auto grid max-w-7xl gap-8 px-4 lg:grid-cols-[15rem_minmax(0,1fr)] xl:grid-cols-[15rem_minmax(0,1fr)_13rem]">
        <div className="sticky top-14 hidden h-[calc(100dvh-3.5rem)] overflow-y-auto py-6 lg:block">
          <GuideNavigation page={page} />
        </div>
        <main id="content" tabIndex={-1} className="min-w-0 max-w-3xl py-6 outline-none">
          <Folded title="All guides" className="lg:hidden" key={`guides ${page}`}>
            <GuideNavigation page={page} />
          </Folded>
          {!isSearching && headings.length > 1 && (
            <Folded title="On this page" className="xl:hidden" key={`sections ${page}`}>
              <TableOfContents headings={headings} />
            </Folded>
          )}
          {isSearching ? (
            <GuideResults query={query} />
          ) : guide.error ? (
            <ErrorState error={guide.error} onRetry={() => void guide.refetch()} />
          ) : guide.data === undefined ? (
            <Skeleton className="h-96 w-full" />
          ) : guide.data === null ? (
            <NoGuide />
          ) : (
            <>
              <GuideArticle key={page} page={page} markdown={guide.data} hash={hash} />
              <Neighbours page={page} />
            </>
          )}
        </main>
        {!isSearching && headings.length > 1 && (
          <div className="sticky top-14 hidden h-[calc(100dvh-3.5rem)] overflow-y-auto py-6 xl:block">
            <TableOfContents headings={headings} />
          </div>
        )}
      </div>
    </div>
  )
}

type FoldedProps = { title: string; className: string; children: ReactNode }

/** The navigation of narrow screens. */
function Folded({ title, className, children }: FoldedProps) {
  return (
    <details className={`mb-4 rounded-md border border-line bg-surface ${className}`}>
      <summary className="cursor-default px-3 py-2 font-medium text-sm">{title}</summary>
      <div className="border-t border-line p-2">{children}</div>
    </details>
  )
}

function NoGuide() {
  const isEmpty = navigation.length === 0
  return (
    <EmptyState
      isPage
      icon={<BookX aria-hidden />}
      title={isEmpty ? 'This installation has no guides' : 'Guide not found'}
      description={
        isEmpty
          ? 'The web UI was built without the folder docs/. Error codes and the API reference are still available.'
          : 'The guide was renamed or removed. Search for it, or choose one from the list.'
      }
      action={
        <a href={isEmpty ? '/help/errors' : '/help'} className="text-accent hover:underline">
          {isEmpty ? 'Error codes' : 'All guides'}
        </a>
      }
    />
  )
}
