import { Command } from 'cmdk'
import { Check, ChevronsUpDown } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { cx } from './class-names.ts'
import { useFieldControl } from './field.tsx'
import { controlClass } from './input.tsx'

export type ComboboxOption = {
  value: string
  label: string
  hint?: string
  icon?: ReactNode
  /** Further words that find this option. */
  keywords?: string[]
  disabled?: boolean
}

export type ComboboxProps = {
  /** null: nothing chosen. */
  value: string | null
  onValueChange: (value: string | null) => void
  options: readonly ComboboxOption[]
  placeholder?: string
  searchPlaceholder?: string
  /** The control's name where no `Field` around it gives one. */
  label?: string
  /** What stands in the list when nothing matches what was typed. */
  empty?: string
  /** Offers to take back the choice. */
  clearable?: boolean
  disabled?: boolean
  className?: string
}

/** A choice among many, found by typing. */
export function Combobox({
  value,
  onValueChange,
  options,
  placeholder = 'Choose…',
  searchPlaceholder = 'Search…',
  label,
  empty = 'Nothing matches.',
  clearable = false,
  disabled,
  className,
}: ComboboxProps) {
  const wiring = useFieldControl()
  const [isOpen, setOpen] = useState(false)
  const chosen = options.find((option) => option.value === value)
  const choose = (next: string | null) => {
    onValueChange(next)
    setOpen(false)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger
        {...wiring}
        role="combobox"
        aria-expanded={isOpen}
        aria-label={label}
        disabled={disabled}
        className={cx(
          controlClass,
          'inline-flex h-8 items-center justify-between gap-2 px-2.5 text-left',
          className,
        )}
      >
        <span className={cx('truncate', !chosen && 'text-faint')}>{chosen?.label ?? placeholder}</span>
        <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-muted" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          aria-label={label ?? placeholder}
          className="z-float w-(--radix-popover-trigger-width) min-w-56 animate-pop-in rounded-lg border border-line bg-raised shadow-md"
        >
          <Command label={searchPlaceholder} defaultValue={chosen?.label}>
            <Command.Input
              placeholder={searchPlaceholder}
              className="h-9 w-full border-b bg-transparent px-3 text-sm outline-none"
            />
            <Command.List label="Options" className="max-h-64 overflow-y-auto p-1">
              <Command.Empty className="px-2 py-4 text-center text-sm text-muted">{empty}</Command.Empty>
              {clearable && value !== null && (
                <Item value="clear-the-choice" onSelect={() => choose(null)}>
                  <span className="text-muted">None</span>
                </Item>
              )}
              {options.map((option) => (
                <Item
                  key={option.value}
                  value={option.value}
                  keywords={[option.label, ...(option.keywords ?? [])]}
                  disabled={option.disabled}
                  onSelect={() => choose(option.value)}
                >
                  {option.icon}
                  <span className="flex min-w-0 flex-1 flex-col">
                    <span className="truncate">{option.label}</span>
                    {option.hint && <span className="truncate text-xs text-muted">{option.hint}</span>}
                  </span>
                  {option.value === value && <Check aria-hidden className="size-4 shrink-0 text-accent" />}
                </Item>
              ))}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Item(props: {
  value: string
  keywords?: string[]
  disabled?: boolean
  onSelect: () => void
  children: ReactNode
}) {
  return (
    <Command.Item
      {...props}
      className="flex cursor-default items-center gap-2 rounded-sm px-2 py-1.5 text-sm text-ink select-none data-[disabled=true]:text-faint data-[selected=true]:bg-hover [&_svg]:size-4 [&_svg]:shrink-0"
    />
  )
}
