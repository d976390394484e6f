import { Popover as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './class-names.ts'
import { floatClass } from './menu.tsx'

export type PopoverProps = {
  trigger: ReactNode
  /** The accessible name. */
  label: string
  children: ReactNode
  align?: 'start' | 'center' | 'end'
  side?: 'top' | 'right' | 'bottom' | 'left'
  open?: boolean
  onOpenChange?: (open: boolean) => void
  className?: string
}

export function Popover(props: PopoverProps) {
  const { trigger, label, children, align = 'start', side = 'bottom', className } = props
  return (
    <Primitive.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Primitive.Trigger asChild>{trigger}</Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          aria-label={label}
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className={cx(floatClass, 'w-72 p-3', className)}
        >
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}
