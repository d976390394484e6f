import { type RefObject, useEffect, useRef } from 'react'

/**
 * Scrolls a row of links so that the link with `aria-current="page"` is visible, when it changes and when the
 * row is resized.
 */
export function useCurrentInView(row: RefObject<HTMLElement | null>): void {
  const shown = useRef<{ current: Element; width: number } | null>(null)
  useEffect(() => {
    const current = row.current?.querySelector('[aria-current=page]')
    if (!row.current || !current) return
    const [around, link] = [row.current.getBoundingClientRect(), current.getBoundingClientRect()]
    const { width } = around
    if (current === shown.current?.current && width === shown.current.width) return
    shown.current = { current, width }
    row.current.scrollLeft += link.left - around.left - (around.width - link.width) / 2
  })
}
