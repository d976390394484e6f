import { useEffect, useEffectEvent, useState } from 'react'
import { useMediaQuery } from '../../../ui/use-media-query.ts'
import { useStoredState } from '../../../ui/use-stored-state.ts'
import type { PanelTabId } from './panel-tabs.ts'

/** In CSS pixels. */
export const panelWidths = { least: 320, start: 460, most: 1200 } as const

export type SidePanelState = {
  /** Beside the conversation; otherwise over it. */
  isBeside: boolean
  isOpen: boolean
  tab: PanelTabId
  width: number
  open(tab?: PanelTabId): void
  close(): void
  onWidth(width: number): void
}

type Stored = { isOpen: boolean; tab: PanelTabId; width: number }

/**
 * The panel beside a conversation, with `Ctrl .` or `⌘ .`. This browser remembers it, except that a panel that would
 * cover the conversation starts closed.
 */
export function useSidePanel(tabs: readonly { id: PanelTabId }[]): SidePanelState {
  const isBeside = useMediaQuery('(min-width: 80rem)')
  const [stored, setStored] = useStoredState<Stored>('side-panel', {
    isOpen: false,
    tab: 'changes',
    width: panelWidths.start,
  })
  const [isOver, setOver] = useState(false)
  const isOpen = isBeside ? stored.isOpen : isOver
  const tab = tabs.some(({ id }) => id === stored.tab) ? stored.tab : 'changes'
  const change = (part: Partial<Stored>) => {
    if (part.isOpen !== undefined && !isBeside) setOver(part.isOpen)
    setStored({ ...stored, ...part, isOpen: isBeside ? (part.isOpen ?? stored.isOpen) : stored.isOpen })
  }
  const toggle = useEffectEvent(() => change({ isOpen: !isOpen }))
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== '.' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      toggle()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
  return {
    isBeside,
    isOpen,
    tab,
    width: Number.isFinite(stored.width) ? stored.width : panelWidths.start,
    open: (next) => change({ isOpen: true, tab: next ?? tab }),
    close: () => change({ isOpen: false }),
    onWidth: (width) =>
      change({ width: Math.round(Math.min(panelWidths.most, Math.max(panelWidths.least, width))) }),
  }
}
