import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { useEffect, useEffectEvent } from 'react'
import { neighbour } from './order.ts'
import type { Triage } from './use-triage.ts'
import { optionsOf } from './words.ts'

type InboxKeys = {
  ids: readonly string[]
  shown: QueueItem | null
  triage: Pick<Triage, 'choose' | 'dismiss' | 'mayDismiss'>
  onSelect: (id: string) => void
  onToggle: (id: string) => void
  onLeave: (item: QueueItem) => void
}

/**
 * Keyboard shortcuts: `j` and `k` move, a digit chooses an option, `r` focuses the answer, `x` dismisses, `m`
 * selects.
 */
export function useInboxKeys({ ids, shown, triage, onSelect, onToggle, onLeave }: InboxKeys): void {
  const press = useEffectEvent((key: string): boolean => {
    const step = { j: 1, k: -1 }[key] as 1 | -1 | undefined
    if (step !== undefined) {
      const next = neighbour(ids, shown?.id ?? null, step)
      if (next !== null) onSelect(next)
      return next !== null
    }
    if (shown?.status !== 'pending') return false
    if (key === 'm') {
      onToggle(shown.id)
      return true
    }
    if (key === 'r') {
      document.querySelector<HTMLElement>('[data-inbox-text]')?.focus()
      return true
    }
    if (key === 'x') {
      if (!triage.mayDismiss.item(shown)) return false
      triage.dismiss(shown)
    } else {
      const response = /^[1-9]$/.test(key) ? optionsOf(shown)[Number(key) - 1] : undefined
      // A changed item must be read first.
      if (response === undefined || shown.diverged) return false
      triage.choose(shown, { response, note: null, acceptsChange: false })
    }
    onLeave(shown)
    return true
  })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
      if (isElsewhere(event.target)) return
      if (press(event.key)) event.preventDefault()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}

/** Keys are ignored in fields, menus and dialogs. */
function isElsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false
  return (
    target.closest(
      'input, textarea, select, [contenteditable], [role=dialog], [role=menu], [role=listbox]',
    ) !== null
  )
}
