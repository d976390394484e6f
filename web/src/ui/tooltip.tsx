import { Tooltip as Primitive } from 'radix-ui'
import type { FocusEvent, ReactNode } from 'react'
import { Kbd } from './kbd.tsx'

export type TooltipProps = {
  content: ReactNode
  /** One element that takes a ref and can be hovered or focused. */
  children: ReactNode
  shortcut?: string[]
  side?: 'top' | 'right' | 'bottom' | 'left'
}

export function Tooltip({ content, children, shortcut, side = 'top' }: TooltipProps) {
  return (
    <Primitive.Provider delayDuration={350} skipDelayDuration={300}>
      <Primitive.Root>
        <Primitive.Trigger asChild onFocus={onlyForKeyboard}>
          {children}
        </Primitive.Trigger>
        <Primitive.Portal>
          <Primitive.Content
            side={side}
            sideOffset={5}
            collisionPadding={8}
            className="z-float flex max-w-72 animate-fade-in items-center gap-2 rounded-md border border-line bg-raised px-2 py-1 text-xs text-ink shadow-md"
          >
            {content}
            {shortcut && <Kbd keys={shortcut} />}
          </Primitive.Content>
        </Primitive.Portal>
      </Primitive.Root>
    </Primitive.Provider>
  )
}

/** A closing menu returns the focus to its button, which must not open the button's tooltip. */
function onlyForKeyboard(event: FocusEvent<HTMLElement>): void {
  if (!event.currentTarget.matches(':focus-visible')) event.preventDefault()
}
