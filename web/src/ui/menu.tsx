import { Check } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './class-names.ts'
import { Kbd } from './kbd.tsx'

export type MenuAction = {
  label: string
  icon?: ReactNode
  hint?: string
  shortcut?: string[]
  danger?: boolean
  disabled?: boolean
  /** A checkbox item. The menu stays open when it is toggled. */
  checked?: boolean
  onSelect: () => void
}

/** An element to render as the item, such as a router link with its text inside. */
export type MenuElement = { element: ReactNode }

export type MenuItem = MenuAction | MenuElement | 'separator' | { heading: string }

export type MenuProps = {
  /** One button, usually a `Button` or an `IconButton`. */
  trigger: ReactNode
  items: readonly (MenuItem | false | null | undefined)[]
  align?: 'start' | 'center' | 'end'
  side?: 'top' | 'right' | 'bottom' | 'left'
}

export function Menu({ trigger, items, align = 'end', side = 'bottom' }: MenuProps) {
  const shown = items.filter((item) => item !== false && item !== null && item !== undefined)
  return (
    // Not modal: the page behind stays available to screen readers and keeps its scroll bar.
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className={cx(floatClass, 'max-h-(--radix-dropdown-menu-content-available-height) min-w-44 p-1')}
        >
          {shown.map((item, index) => (
            // The position is a stable key: the menu is rebuilt each time it opens.
            <Row key={keyOf(item, index)} item={item} />
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

function Row({ item }: { item: MenuItem }) {
  if (item === 'separator') return <DropdownMenu.Separator className="-mx-1 my-1 h-px bg-line" />
  if ('heading' in item) {
    return (
      <DropdownMenu.Label className="px-2 pt-2 pb-1 text-xs font-medium text-faint">
        {item.heading}
      </DropdownMenu.Label>
    )
  }
  if ('element' in item) {
    return (
      <DropdownMenu.Item asChild className={itemClass}>
        {item.element}
      </DropdownMenu.Item>
    )
  }
  if (item.checked !== undefined) return <TickRow action={item} checked={item.checked} />
  return (
    <DropdownMenu.Item
      disabled={item.disabled}
      onSelect={item.onSelect}
      className={cx(
        itemClass,
        item.danger && 'text-danger data-highlighted:bg-danger-soft [&_svg]:text-danger',
      )}
    >
      <Words action={item} />
    </DropdownMenu.Item>
  )
}

function TickRow({ action, checked }: { action: MenuAction; checked: boolean }) {
  return (
    <DropdownMenu.CheckboxItem
      checked={checked}
      disabled={action.disabled}
      onCheckedChange={action.onSelect}
      onSelect={(event) => event.preventDefault()}
      className={cx(itemClass, 'pl-8')}
    >
      <DropdownMenu.ItemIndicator className="absolute left-2">
        <Check aria-hidden />
      </DropdownMenu.ItemIndicator>
      <Words action={action} />
    </DropdownMenu.CheckboxItem>
  )
}

function Words({ action }: { action: MenuAction }) {
  return (
    <>
      {action.icon}
      <span className="flex min-w-0 flex-1 flex-col">
        <span className="truncate">{action.label}</span>
        {action.hint && <span className="text-xs text-muted">{action.hint}</span>}
      </span>
      {action.shortcut && <Kbd keys={action.shortcut} />}
    </>
  )
}

function keyOf(item: MenuItem, index: number): string {
  return typeof item === 'object' && 'label' in item ? `${index}-${item.label}` : String(index)
}

/** The style of floating elements. */
export const floatClass =
  'z-float max-w-[calc(100vw-1rem)] animate-pop-in overflow-y-auto rounded-lg border border-line bg-raised text-ink shadow-md outline-none'

const itemClass =
  'relative flex cursor-default items-center gap-2 rounded-sm px-2 py-1.5 text-sm outline-none select-none data-disabled:text-faint data-highlighted:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted'
