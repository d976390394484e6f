import { useState } from 'react'
import { between } from './order.ts'

export type InboxSelection = {
  ids: ReadonlySet<string>
  /** `withRange`: selects everything from the last selected item. */
  toggle: (id: string, withRange?: boolean) => void
  set: (ids: readonly string[]) => void
}

/** The selected items of the list. An item that has left the list is not selected. */
export function useInboxSelection(listed: readonly string[]): InboxSelection {
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
