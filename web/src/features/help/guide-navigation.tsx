import { navigation } from 'virtual:guides'
import { cx } from '../../ui/class-names.ts'
import { GuideLink } from './guide-link.tsx'
import { guidePath, type Heading } from './guide-text.ts'

const itemClass =
  'block rounded-md px-2 py-1 text-muted text-sm hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink'

/** All guides by group, and the pages of the error codes. */
export function GuideNavigation({ page }: { page: string }) {
  return (
    <nav aria-label="Guides" className="flex flex-col gap-4">
      {navigation.map(({ title, pages }) => (
        <div key={title}>
          <p className="px-2 pb-1 font-medium text-ink text-xs">{title}</p>
          <ul>
            {pages.map((each) => (
              <li key={each.page}>
                <GuideLink path={guidePath(each.page)} isCurrent={each.page === page} className={itemClass}>
                  {each.title}
                </GuideLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <ul>
        <li>
          <GuideLink path="/help/errors" className={itemClass}>
            Error codes
          </GuideLink>
        </li>
      </ul>
    </nav>
  )
}

/** The sections of the page. */
export function TableOfContents({ headings }: { headings: readonly Heading[] }) {
  return (
    <nav aria-label="On this page">
      <p className="px-2 pb-1 font-medium text-xs">On this page</p>
      <ul>
        {headings.map(({ slug, text, depth }) => (
          <li key={slug} className={cx(depth === 3 && 'pl-3')}>
            <a href={`#${slug}`} className={itemClass}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** The pages before and after this one in the order of the navigation. */
export function Neighbours({ page }: { page: string }) {
  const all = navigation.flatMap(({ pages }) => pages)
  const at = all.findIndex((each) => each.page === page)
  if (at === -1) return null
  const [before, next] = [all[at - 1], all[at + 1]]
  return (
    <nav
      aria-label="Neighbouring guides"
      className="mt-10 flex justify-between gap-4 border-t border-line pt-4 text-sm"
    >
      {before ? (
        <GuideLink path={guidePath(before.page)} className="text-accent hover:underline">
          ← {before.title}
        </GuideLink>
      ) : (
        <span />
      )}
      {next && (
        <GuideLink path={guidePath(next.page)} className="text-right text-accent hover:underline">
          {next.title} →
        </GuideLink>
      )}
    </nav>
  )
}
