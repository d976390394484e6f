import { type RefObject, useEffect, useState } from 'react'

/** Whether a horizontally scrolling row has hidden content at its start and end. */
export type ScrollEdges = { start: boolean; end: boolean }

/** Updates itself on scroll and resize. */
export function useScrollEdges(row: RefObject<HTMLElement | null>): ScrollEdges {
  const [edges, setEdges] = useState<ScrollEdges>({ start: false, end: false })
  useEffect(() => {
    const element = row.current
    if (!element) return
    const measure = () => {
      const rest = element.scrollWidth - element.clientWidth - element.scrollLeft
      // Zooming rounds positions by up to a pixel.
      const now = { start: element.scrollLeft > 1, end: rest > 1 }
      setEdges((before) => (before.start === now.start && before.end === now.end ? before : now))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [row])
  return edges
}
