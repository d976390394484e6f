import { type RefObject, useEffect, useRef, useState } from 'react'

export type Tail = {
  /** At the end of what grows. */
  end: RefObject<HTMLDivElement | null>
  isFollowing: boolean
  setFollowing: (isFollowing: boolean) => void
  /** How many came since it was paused. */
  fresh: number
}

/** Scrolling up by this much is meant, and not the page settling. */
const meantPx = 24

/** Keeps the end of a growing page in view until the reader scrolls up or pauses it. */
export function useTail({ count, isLive }: { count: number; isLive: boolean }): Tail {
  const end = useRef<HTMLDivElement>(null)
  const [isFollowing, setIsFollowing] = useState(true)
  const [seen, setSeen] = useState(count)
  if (isFollowing && seen !== count) setSeen(count)

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

  return { end, isFollowing, setFollowing: setIsFollowing, fresh: Math.max(0, count - seen) }
}
