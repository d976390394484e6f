import { useEffect, useRef, useState } from 'react'

/** The value, renewed at most once in `ms`; at once with 0. The last value always comes through. */
export function usePaced<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value)
  const renewedAt = useRef(0)
  useEffect(() => {
    const renew = () => {
      renewedAt.current = performance.now()
      setShown(value)
    }
    const left = renewedAt.current + ms - performance.now()
    if (left <= 0) return renew()
    const timer = setTimeout(renew, left)
    return () => clearTimeout(timer)
  }, [value, ms])
  return ms === 0 ? value : shown
}
