import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Distance in pixels that still counts as the end. */
const nearPx = 48

/**
 * Keeps a growing list scrolled to its end. `newest` changes with new content at the end. `oldest` changes
 * with content at the beginning and keeps the position. `own` changes with the user's message and scrolls to
 * it.
 */
export function useStickToBottom({ newest, oldest, own }: { newest: string; oldest: string; own: string }) {
  const scroller = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isSticking = useRef(true)
  const seenHeight = useRef(0)
  const [isAtEnd, setAtEnd] = useState(true)
  const [lastSeen, setLastSeen] = useState(newest)
  if (isAtEnd && lastSeen !== newest) setLastSeen(newest)

  useEffect(() => {
    const [box, inner] = [scroller.current, content.current]
    if (!box || !inner) return
    let top = box.scrollTop
    const look = () => {
      const isNear = box.scrollHeight - box.clientHeight - box.scrollTop < nearPx
      // Only scrolling up stops following: content may have grown since the last scroll.
      if (isNear) isSticking.current = true
      else if (box.scrollTop < top - 1) isSticking.current = false
      top = box.scrollTop
      setAtEnd(isSticking.current)
    }
    const follow = () => {
      if (isSticking.current) box.scrollTop = box.scrollHeight
      seenHeight.current = box.scrollHeight
    }
    const observer = new ResizeObserver(follow)
    observer.observe(inner)
    observer.observe(box)
    box.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      box.removeEventListener('scroll', look)
    }
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when messages were added before the first one
  useLayoutEffect(() => {
    const box = scroller.current
    // Elsewhere the browser anchors the position itself; at the very top it has no anchor.
    if (box && !isSticking.current && box.scrollTop === 0)
      box.scrollTop = box.scrollHeight - seenHeight.current
    if (box) seenHeight.current = box.scrollHeight
  }, [oldest])

  const toEnd = useCallback(() => {
    const box = scroller.current
    isSticking.current = true
    setAtEnd(true)
    if (box) box.scrollTop = box.scrollHeight
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the user has sent a message
  useLayoutEffect(() => toEnd(), [own, toEnd])

  return { scroller, content, isAtEnd, hasNew: !isAtEnd && lastSeen !== newest, toEnd }
}
