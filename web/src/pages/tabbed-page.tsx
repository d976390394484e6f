import { Link } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, Suspense } from 'react'
import { Page } from '../shell/page.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { TabLinks, tabLinkClass } from '../ui/tabs.tsx'
import { Title } from '../ui/title.tsx'

export type PageTab = {
  /** In the address, as `?tab=`. */
  id: string
  label: string
  /** `text`: it is mostly forms and words. */
  width?: 'text'
  /** Beside the label. */
  Count?: ComponentType
  Content: ComponentType
}

type TabbedPageProps = {
  title: string
  to: '/library' | '/operations' | '/settings'
  /** In their order; the first one is shown when the address names none of them. */
  tabs: readonly PageTab[]
  /** What the address names. */
  tab: string | undefined
  /** The part that is shown has a heading of its own, and a way back. */
  isInside?: boolean
  children?: ReactNode
}

/** A page of parts with an address each. */
export function TabbedPage({ title, to, tabs, tab, isInside = false, children }: TabbedPageProps) {
  const chosen = tabs.find(({ id }) => id === tab) ?? tabs[0]
  return (
    <Page width={chosen?.width ?? 'wide'}>
      <Title of={[chosen?.label, title]} />
      {!isInside && (
        <>
          <PageHeader title={title} />
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
