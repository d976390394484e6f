import { useState } from 'react'
import { between } from './order.ts'

export type Marked = {
  ids: ReadonlySet<string>
  /** With `withRange` everything from the one that was marked last. */
  toggle: (id: string, withRange?: boolean) => void
  set: (ids: readonly string[]) => void
}

/** Which items of the list are marked, to be dealt with together. One that has left the list is not. */
export function useMarked(listed: readonly string[]): Marked {
  const [all, setAll] = useState<ReadonlySet<string>>(new Set())
  const [last, setLast] = useState<string | null>(null)
  return {
    ids: new Set(listed.filter((id) => all.has(id))),
    toggle(id, withRange = false) {
      const range = withRange ? between(listed, last, id) : [id]
      const isOn = !all.has(id)
      setAll((before) => {
        const next = new Set(before)
        for (const each of range) {
          if (isOn) next.add(each)
          else next.delete(each)
        }
        return next
      })
      setLast(id)
    },
    set(ids) {
      setAll(new Set(ids))
      setLast(null)
    },
  }
}
