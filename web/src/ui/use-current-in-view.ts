import { type RefObject, useEffect, useRef } from 'react'

/**
 * Where a row of links is wider than the window, the one that is marked by `aria-current="page"` is brought
 * into view once it becomes that.
 */
export function useCurrentInView(row: RefObject<HTMLElement | null>): void {
  const shown = useRef<Element | null>(null)
  useEffect(() => {
    const current = row.current?.querySelector('[aria-current=page]')
    if (!row.current || !current || current === shown.current) return
    shown.current = current
    const [around, link] = [row.current.getBoundingClientRect(), current.getBoundingClientRect()]
    row.current.scrollLeft += link.left - around.left - (around.width - link.width) / 2
  })
}
