import { type RefObject, useEffect, useRef, useState } from 'react'

/** Whether an element has ever been near the screen, or is needed immediately. Stays true. */
export function useNear<T extends Element>(isNeeded: boolean): { ref: RefObject<T | null>; isNear: boolean } {
  const ref = useRef<T>(null)
  const [isNear, setIsNear] = useState(isNeeded)
  if (isNeeded && !isNear) setIsNear(true)
  useEffect(() => {
    if (isNear || !ref.current) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setIsNear(true)
      },
      { rootMargin: '1500px 0px' },
    )
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [isNear])
  return { ref, isNear }
}
