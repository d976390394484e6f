import { type RefObject, useLayoutEffect, useRef } from 'react'

/** The newest value for handlers that must stay the same between renders. Not to be read while rendering. */
export function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}
