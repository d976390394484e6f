import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { keyedPlaces } from './navigation.ts'

/** Time limit for the second key of a pair. */
const pairMs = 1500

/** Ctrl/Cmd-K opens the palette; `g` and a letter opens a page, unless the focus is in a text field. */
export function useShortcuts({ openPalette }: { openPalette(): void }): void {
  const navigate = useNavigate()
  const onOpen = useEffectEvent(openPalette)
  const onGo = useEffectEvent((key: string) => {
    const place = keyedPlaces.find((each) => each.key === key)
    if (place) void navigate({ to: place.to, search: place.search ?? {} })
    return place !== undefined
  })
  useEffect(() => {
    let goneAt = Number.NEGATIVE_INFINITY
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        onOpen()
        return
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (event.key === 'g') goneAt = event.timeStamp
      else if (event.timeStamp - goneAt < pairMs) {
        goneAt = Number.NEGATIVE_INFINITY
        if (onGo(event.key)) event.preventDefault()
      }
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)
}
