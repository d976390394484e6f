import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** So close to the end counts as being there. */
const nearPx = 48

/**
 * Keeps a growing list at its end for as long as the reader is there. `newest` changes when something is new at
 * the end, `oldest` when something is new at the beginning: then the reader's place stays where it is. `own`
 * changes when the reader has added something, which leads them to the end.
 */
export function useStickToBottom({ newest, oldest, own }: { newest: string; oldest: string; own: string }) {
  const scroller = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isSticking = useRef(true)
  const seenHeight = useRef(0)
  const [isAtEnd, setAtEnd] = useState(true)
  const [seen, setSeen] = useState(newest)
  if (isAtEnd && seen !== newest) setSeen(newest)

  useEffect(() => {
    const [box, inner] = [scroller.current, content.current]
    if (!box || !inner) return
    let top = box.scrollTop
    const look = () => {
      const isNear = box.scrollHeight - box.clientHeight - box.scrollTop < nearPx
      // Only going up lets go: what has grown meanwhile has not been followed yet.
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when something came before the first message
  useLayoutEffect(() => {
    const box = scroller.current
    // Elsewhere the browser keeps the place by itself; at the very top there is nothing it could hold on to.
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the reader has added something
  useLayoutEffect(() => toEnd(), [own, toEnd])

  return { scroller, content, isAtEnd, hasNew: !isAtEnd && seen !== newest, toEnd }
}
