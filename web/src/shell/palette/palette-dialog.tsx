import type { User } from '@roost/contracts/identity/users'
import { Dialog } from 'radix-ui'
import { useRef } from 'react'
import { usePanelFocus } from '../../ui/use-panel-focus.ts'
import type { Act } from './entries.ts'
import { PaletteCommands } from './palette-commands.tsx'
import { useActs } from './use-acts.tsx'

export type PaletteProps = { me: User; open: boolean; onOpenChange(open: boolean): void }

/** The palette, and the questions that its commands ask when it is closed. */
export function PaletteDialog({ me, open, onOpenChange }: PaletteProps) {
  const { act, questions } = useActs()
  const focus = usePanelFocus(open)
  const chosen = useRef<Act | null>(null)
  return (
    <>
      <Dialog.Root open={open} onOpenChange={onOpenChange}>
        <Dialog.Portal>
          <Dialog.Overlay className="fixed inset-0 z-40 bg-overlay" />
          <Dialog.Content
            aria-describedby={undefined}
            {...focus}
            onCloseAutoFocus={(event) => {
              focus.onCloseAutoFocus(event)
              // Only now: a dialog that the command opens must return the focus to the page.
              const next = chosen.current
              chosen.current = null
              if (next) act(next)
            }}
            className="fixed inset-x-3 top-[12dvh] z-50 mx-auto max-w-xl overflow-hidden rounded-xl border border-line bg-raised text-ink shadow-xl"
          >
            <Dialog.Title className="sr-only">Search pages, agents and actions</Dialog.Title>
            <PaletteCommands
              me={me}
              onChoose={(next) => {
                chosen.current = next
                onOpenChange(false)
              }}
            />
          </Dialog.Content>
        </Dialog.Portal>
      </Dialog.Root>
      {questions}
    </>
  )
}
