import { useInsertionEffect, useRef } from 'react'

/**
 * Manages the focus of a panel. On open it focuses the first input rather than the close button; on close it
 * returns to the element that opened the panel.
 */
export function usePanelFocus(isOpen: boolean) {
  const opener = useRef<Element | null>(null)
  // Must run first: a field with `autoFocus` has the focus once the panel has rendered.
  useInsertionEffect(() => {
    if (isOpen) opener.current = openerOf(document.activeElement)
  }, [isOpen])
  return {
    onOpenAutoFocus: (event: Event) => {
      const panel = event.currentTarget
      if (!(panel instanceof HTMLElement)) return
      event.preventDefault()
      const first = panel.querySelector<HTMLElement>(
        '[data-autofocus], :is(input, textarea, [role=combobox]):not(:disabled, [readonly])',
      )
      const start = first ?? panel
      start.focus()
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault()
      if (opener.current instanceof HTMLElement) opener.current.focus()
    },
  }
}

/** A menu item no longer exists when the panel closes: use the button that opened the menu. */
function openerOf(active: Element | null): Element | null {
  const trigger = active?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return trigger ? document.getElementById(trigger) : active
}
