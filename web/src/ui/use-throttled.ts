import { useEffect, useRef, useState } from 'react'

/** The value, updated at most once per `ms`, or immediately with 0. The last value is never lost. */
export function useThrottled<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value)
  const updatedAt = useRef(0)
  useEffect(() => {
    const update = () => {
      updatedAt.current = performance.now()
      setShown(value)
    }
    const left = updatedAt.current + ms - performance.now()
    if (left <= 0) return update()
    const timer = setTimeout(update, left)
    return () => clearTimeout(timer)
  }, [value, ms])
  return ms === 0 ? value : shown
}
