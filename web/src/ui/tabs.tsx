import { ChevronLeft, ChevronRight } from 'lucide-react'
import { Tabs as Primitive } from 'radix-ui'
import { type ReactNode, useRef } from 'react'
import { cx } from './class-names.ts'
import { useCurrentInView } from './use-current-in-view.ts'
import { useScrollEdges } from './use-scroll-edges.ts'

export type Tab = { value: string; label: string; icon?: ReactNode; count?: number; content: ReactNode }

export type TabsProps = {
  value: string
  onValueChange: (value: string) => void
  tabs: readonly Tab[]
  label: string
  /** The panels take the height that is left, and scroll inside. */
  fills?: boolean
  /** At the end of the row of tabs. */
  aside?: ReactNode
  className?: string
}

/** Panels of one page. Use `TabLinks` for tabs with their own address. */
export function Tabs({ value, onValueChange, tabs, label, fills = false, aside, className }: TabsProps) {
  const list = (
    <Primitive.List aria-label={label} className={cx(barClass, fills && 'flex-1 pl-4')}>
      {tabs.map((tab) => (
        <Primitive.Trigger
          key={tab.value}
          value={tab.value}
          className={cx(tabClass, 'data-[state=active]:border-accent data-[state=active]:text-ink')}
        >
          {tab.icon}
          {tab.label}
          {tab.count !== undefined && <TabCount count={tab.count} />}
        </Primitive.Trigger>
      ))}
    </Primitive.List>
  )
  return (
    <Primitive.Root
      value={value}
      onValueChange={onValueChange}
      className={cx(fills && 'flex min-h-0 flex-1 flex-col', className)}
    >
      {fills ? (
        <div className="flex min-w-0 shrink-0 items-stretch">
          {list}
          {aside && <div className="flex items-center border-b px-1.5">{aside}</div>}
        </div>
      ) : (
        list
      )}
      {tabs.map((tab) => (
        <Primitive.Content
          key={tab.value}
          value={tab.value}
          className={fills ? 'min-h-0 flex-1 flex-col data-[state=active]:flex' : 'pt-4'}
        >
          {tab.content}
        </Primitive.Content>
      ))}
    </Primitive.Root>
  )
}

/**
 * A row of links that look like tabs. The children are router links with `tabLinkClass`; the active one has
 * `aria-current`. With `isSecond` the row belongs to a tab of the row above, and its links have `subTabLinkClass`.
 */
export function TabLinks({
  label,
  children,
  className,
  isSecond = false,
}: {
  label: string
  children: ReactNode
  className?: string
  isSecond?: boolean
}) {
  const bar = useRef<HTMLElement>(null)
  useCurrentInView(bar)
  const { start, end } = useScrollEdges(bar)
  const scroll = (share: number) => {
    const width = bar.current?.clientWidth ?? 0
    bar.current?.scrollBy({ left: share * width })
  }
  return (
    <div className={cx('flex min-w-0', isSecond ? 'flex-1' : 'shrink-0')}>
      <div className="relative min-w-0 flex-1">
        <nav
          ref={bar}
          aria-label={label}
          className={cx(isSecond ? secondBarClass : barClass, 'scroll-px-10', className)}
        >
          {children}
        </nav>
        {start && <Edge className="left-0" icon={<ChevronLeft />} onClick={() => scroll(-0.6)} />}
        {end && <Edge className="right-0" icon={<ChevronRight />} onClick={() => scroll(0.6)} />}
      </div>
    </div>
  )
}

/**
 * Scroll buttons for mice without horizontal scrolling. Keyboards and screen readers reach all links anyway.
 */
function Edge({ className, icon, onClick }: { className: string; icon: ReactNode; onClick: () => void }) {
  return (
    <button
      type="button"
      aria-hidden="true"
      tabIndex={-1}
      onClick={onClick}
      className={cx(
        'absolute top-0 grid h-8.5 w-8 place-items-center bg-canvas text-muted hover:text-ink pointer-coarse:hidden [&_svg]:size-4',
        className,
      )}
    >
      {icon}
    </button>
  )
}

export function TabCount({ count }: { count: number }) {
  return (
    <span className="rounded-sm bg-hover px-1.5 text-2xs font-medium text-muted tabular-nums">{count}</span>
  )
}

const secondBarClass = 'flex max-w-full gap-1 overflow-x-auto overflow-y-hidden py-1 [scrollbar-width:none]'

const barClass = 'flex max-w-full gap-4 overflow-x-auto overflow-y-hidden border-b [scrollbar-width:none]'

const tabClass =
  'inline-flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent text-sm font-medium whitespace-nowrap text-muted transition-colors duration-100 hover:text-ink focus-visible:rounded-sm focus-visible:-outline-offset-2 [&_svg]:size-3.5'

export const tabLinkClass = cx(
  tabClass,
  'aria-[current=page]:border-accent aria-[current=page]:text-ink aria-[current=true]:border-accent aria-[current=true]:text-ink',
)

export const subTabLinkClass =
  'inline-flex h-7 shrink-0 items-center rounded-md px-2.5 text-sm whitespace-nowrap text-muted transition-colors duration-100 hover:bg-hover hover:text-ink focus-visible:-outline-offset-2 aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent'
