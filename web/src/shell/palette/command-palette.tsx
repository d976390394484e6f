import { lazy, Suspense } from 'react'
import type { PaletteProps } from './palette-dialog.tsx'

const PaletteDialog = lazy(() => import('./palette-dialog.tsx'))

/** Ctrl/Cmd-K: every page, agent and action. Its code is fetched when it is first opened. */
export function CommandPalette(props: PaletteProps) {
  if (!props.open) return null
  return (
    <Suspense fallback={null}>
      <PaletteDialog {...props} />
    </Suspense>
  )
}
