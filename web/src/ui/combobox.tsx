import { Command } from 'cmdk'
import { Check, ChevronsUpDown } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { cx } from './class-names.ts'
import { useFieldControl } from './field.tsx'
import { controlClass } from './input.tsx'
import { rankMatch } from './rank-match.ts'

export type ComboboxOption = {
  value: string
  label: string
  hint?: string
  icon?: ReactNode
  /** Additional search words. */
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
  /** The accessible name when no surrounding `Field` provides one. */
  label?: string
  /** Shown when nothing matches the search text. */
  empty?: string
  /** Shows an item that clears the choice. */
  clearable?: boolean
  /** Turns free text into a value that is not among the options; null refuses it. */
  typed?: (text: string) => string | null
  disabled?: boolean
  className?: string
}

/** A searchable choice among many options. */
export function Combobox({
  value,
  onValueChange,
  options,
  placeholder = 'Choose…',
  searchPlaceholder = 'Search…',
  label,
  empty = 'No matches.',
  clearable = false,
  typed,
  disabled,
  className,
}: ComboboxProps) {
  const wiring = useFieldControl()
  const [isOpen, setOpen] = useState(false)
  const [search, setSearch] = useState('')
  const own = typed?.(search) ?? null
  const chosen = options.find((option) => option.value === value)
  const choose = (next: string | null) => {
    onValueChange(next)
    open(false)
  }
  const open = (next: boolean) => {
    setSearch('')
    setOpen(next)
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={open}>
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
        <span className={cx('truncate', value === null && 'text-faint')}>
          {chosen?.label ?? value ?? placeholder}
        </span>
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
          <Command label={searchPlaceholder} defaultValue={chosen?.value} filter={rankMatch}>
            <Command.Input
              value={search}
              onValueChange={setSearch}
              placeholder={searchPlaceholder}
              className="h-9 w-full border-b bg-transparent px-3 text-sm outline-none"
            />
            <Command.List label="Options" className="max-h-64 overflow-y-auto p-1">
              {own === null && (
                <Command.Empty className="px-2 py-4 text-center text-sm text-muted">{empty}</Command.Empty>
              )}
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
              {own !== null && !options.some((option) => option.value === own) && (
                <Item value={`typed ${own}`} forceMount onSelect={() => choose(own)}>
                  <span className="truncate">Use “{own}”</span>
                </Item>
              )}
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
  forceMount?: boolean
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
