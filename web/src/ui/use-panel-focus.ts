import { useInsertionEffect, useRef } from 'react'

/**
 * Where the focus goes when a panel opens and closes. It begins where one types or decides rather than on the
 * cross, and goes back to what opened the panel, though that is no trigger the panel knows of.
 */
export function usePanelFocus(isOpen: boolean) {
  const opener = useRef<Element | null>(null)
  // Before any other effect: a field that takes the focus by itself has it once the panel is drawn.
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

/** A menu's item is gone by the time the panel closes: what opened the menu stands for it. */
function openerOf(active: Element | null): Element | null {
  const trigger = active?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return trigger ? document.getElementById(trigger) : active
}
