import { Suspense, useState } from 'react'
import { lazyPart } from '../../ui/lazy-part.tsx'
import type { PaletteProps } from './palette-dialog.tsx'

const PaletteDialog = lazyPart(async () => (await import('./palette-dialog.tsx')).PaletteDialog)

/** Ctrl/Cmd-K: every page, agent and action. The code loads on first use. */
export function CommandPalette(props: PaletteProps) {
  const [wasOpen, setWasOpen] = useState(props.open)
  if (props.open && !wasOpen) setWasOpen(true)
  if (!wasOpen) return null
  return (
    <Suspense fallback={null}>
      <PaletteDialog {...props} />
    </Suspense>
  )
}
