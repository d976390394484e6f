import { Link } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, Suspense } from 'react'
import { Page } from '../shell/page.tsx'
import { PageHelp } from '../shell/page-help.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { TabLinks, tabLinkClass } from '../ui/tabs.tsx'
import { Title } from '../ui/title.tsx'

export type PageTab = {
  /** The value of `?tab=` in the address. */
  id: string
  label: string
  /** The guide of the tab: a path below `docs/`, without `.md`. */
  guide: string
  /** `text`: narrow layout for forms and prose. */
  width?: 'text'
  /** In the header, while the tab is shown. */
  Actions?: ComponentType
  /** Shown beside the label. */
  Count?: ComponentType
  Content: ComponentType
}

type TabbedPageProps = {
  title: string
  to: '/agents' | '/inbox' | '/library' | '/settings'
  /** In display order; the first one is shown when the address names none of them. */
  tabs: readonly PageTab[]
  /** The id that the address names. */
  tab: string | undefined
  /** The current tab has its own heading and back link. */
  isInside?: boolean
  children?: ReactNode
}

/** A page of tabs, each with its own address. */
export function TabbedPage({ title, to, tabs, tab, isInside = false, children }: TabbedPageProps) {
  const chosen = tabs.find(({ id }) => id === tab) ?? tabs[0]
  return (
    <Page width={chosen?.width ?? 'wide'}>
      <Title of={[chosen?.label, title]} />
      {!isInside && (
        <>
          <PageHeader
            title={title}
            aside={chosen && <PageHelp guide={chosen.guide} topic={chosen.label} />}
            actions={chosen?.Actions && <chosen.Actions />}
          />
          <TabLinks label={title} className="mb-5">
            {tabs.map(({ id, label, Count }) => (
              <Link
                key={id}
                to={to}
                search={{ tab: id }}
                className={tabLinkClass}
                aria-current={id === chosen?.id ? 'page' : undefined}
              >
                {label}
                {Count && <Count />}
              </Link>
            ))}
          </TabLinks>
        </>
      )}
      <Suspense fallback={<Skeleton className="h-72 w-full" />}>{chosen && <chosen.Content />}</Suspense>
      {children}
    </Page>
  )
}
