import type { User } from '@roost/contracts/identity/users'
import { lazy, Suspense } from 'react'

const PaletteDialog = lazy(() => import('./palette-dialog.tsx'))

export type PaletteProps = { me: User; open: boolean; onOpenChange(open: boolean): void }

/** Ctrl/Cmd-K: every page, agent and action. Its code is fetched when it is first opened. */
export function CommandPalette(props: PaletteProps) {
  if (!props.open) return null
  return (
    <Suspense fallback={null}>
      <PaletteDialog {...props} />
    </Suspense>
  )
}
