import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'

export type LongListProps<Item> = {
  items: readonly Item[]
  /** Draws one item, as a keyed list item. */
  children: (item: Item) => ReactNode
  /** How many are drawn at first, and how many come each time their end is near. */
  step?: number
  /** So many are drawn in any case, for what is chosen to be among them. */
  least?: number
  /** Names the list for screen readers. */
  label?: string
  className?: string
}

/**
 * A list, or a grid of list items, whose rest is drawn once its end comes near the screen: hundreds at once keep a
 * browser busy for seconds. Below what is drawn stands the room that the rest will take, so that the scroll bar is
 * honest and going back finds the place again.
 */
export function LongList<Item>({
  items,
  children,
  step = 60,
  least = 0,
  label,
  className,
}: LongListProps<Item>) {
  const [wanted, setWanted] = useState(step)
  const count = Math.max(wanted, least)
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
        if (entries.some(({ isIntersecting }) => isIntersecting)) setWanted(count + step)
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
