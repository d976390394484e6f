import { type RefObject, useEffect, useRef, useState } from 'react'

export type Tail = {
  /** True at the end of a growing page. */
  end: RefObject<HTMLDivElement | null>
  isFollowing: boolean
  setFollowing: (isFollowing: boolean) => void
  /** Number of new items since following stopped. */
  fresh: number
}

/** Pixels: smaller upward scrolls are layout shifts, not intent. */
const meantPx = 24

/** Scrolls to the end of a growing page until the reader scrolls up or pauses. */
export function useTail({ count, isLive }: { count: number; isLive: boolean }): Tail {
  const end = useRef<HTMLDivElement>(null)
  const [isFollowing, setIsFollowing] = useState(true)
  const [lastSeen, setLastSeen] = useState(count)
  if (isFollowing && lastSeen !== count) setLastSeen(count)

  useEffect(() => {
    if (isLive && isFollowing && count > 0) end.current?.scrollIntoView({ block: 'nearest' })
  }, [isLive, isFollowing, count])

  useEffect(() => {
    if (!isLive) return
    let lowest = window.scrollY
    const onScroll = () => {
      if (window.scrollY < lowest - meantPx) setIsFollowing(false)
      lowest = window.scrollY
    }
    window.addEventListener('scroll', onScroll, { passive: true })
    return () => window.removeEventListener('scroll', onScroll)
  }, [isLive])

  return { end, isFollowing, setFollowing: setIsFollowing, fresh: Math.max(0, count - lastSeen) }
}
