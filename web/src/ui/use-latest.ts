import { type RefObject, useLayoutEffect, useRef } from 'react'

/** A ref to the newest value, for handlers with a stable identity. Do not read it while rendering. */
export function useLatest<Value>(value: Value): RefObject<Value> {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}
