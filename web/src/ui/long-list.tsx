import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'

export type LongListProps<Item> = {
  items: readonly Item[]
  /** Renders one item as a keyed list item. */
  children: (item: Item) => ReactNode
  /** The number of items rendered at first and added each time the end comes near. */
  step?: number
  /** The minimum number of rendered items, e.g. to include the selected one. */
  least?: number
  /** The accessible name. */
  label?: string
  className?: string
}

/**
 * A list or grid that renders more items as its end comes near the screen. A spacer of the estimated
 * remaining height keeps the scroll bar and the scroll position right.
 */
export function LongList<Item>({
  items,
  children,
  step = 60,
  least = 0,
  label,
  className,
}: LongListProps<Item>) {
  const [renderCount, setRenderCount] = useState(step)
  const count = Math.max(renderCount, least)
  const end = useRef<HTMLLIElement>(null)
  const rest = items.length - count

  useLayoutEffect(() => {
    if (!end.current || rest <= 0) return
    const list = end.current.parentElement
    const drawn = end.current.offsetTop - (list?.offsetTop ?? 0)
    end.current.style.height = `${Math.round((drawn / count) * rest)}px`
  }, [count, rest])

  useEffect(() => {
    if (!end.current || rest <= 0) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setRenderCount(count + step)
      },
      { rootMargin: '1500px 0px' },
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [count, rest, step])

  return (
    <ul aria-label={label} className={className}>
      {items.slice(0, count).map(children)}
      {rest > 0 && <li ref={end} aria-hidden className="col-span-full" />}
    </ul>
  )
}
