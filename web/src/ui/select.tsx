import { Check, ChevronDown } from 'lucide-react'
import { Select as Primitive } from 'radix-ui'
import { cspNonce } from '../lib/csp.ts'
import { cx } from './class-names.ts'
import { useFieldControl } from './field.tsx'
import { controlClass } from './input.tsx'

export type SelectOption<Value extends string = string> = {
  value: Value
  label: string
  hint?: string
  disabled?: boolean
}

export type SelectProps<Value extends string = string> = {
  /** null: nothing chosen yet. */
  value: Value | null
  onValueChange: (value: Value) => void
  options: readonly SelectOption<Value>[]
  placeholder?: string
  /** The accessible name when no surrounding `Field` provides one. */
  label?: string
  disabled?: boolean
  className?: string
  onBlur?: () => void
}

/** For up to about twenty options; use `Combobox` for more. An option's value is never empty. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { value, onValueChange, options, placeholder = 'Choose…', label, disabled, className, onBlur } = props
  const wiring = useFieldControl()
  const chosen = options.find((option) => option.value === value)
  return (
    // The primitive is typed as string but returns only values of the given options.
    <Primitive.Root
      value={value ?? ''}
      onValueChange={(next) => onValueChange(next as Value)}
      disabled={disabled}
    >
      <Primitive.Trigger
        {...wiring}
        aria-label={label}
        onBlur={onBlur}
        className={cx(
          controlClass,
          'inline-flex h-8 items-center justify-between gap-2 px-2.5 text-left data-placeholder:text-faint',
          className,
        )}
      >
        <span className="truncate">
          <Primitive.Value placeholder={placeholder}>{chosen?.label}</Primitive.Value>
        </span>
        <ChevronDown aria-hidden className="size-3.5 shrink-0 text-muted" />
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          position="popper"
          sideOffset={4}
          collisionPadding={8}
          className="z-float max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) max-w-[calc(100vw-1rem)] animate-pop-in rounded-lg border border-line bg-raised shadow-md"
        >
          <Primitive.Viewport nonce={cspNonce()} className="p-1">
            {options.map((option) => (
              <Option key={option.value} option={option} />
            ))}
          </Primitive.Viewport>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

function Option({ option }: { option: SelectOption }) {
  return (
    <Primitive.Item
      value={option.value}
      disabled={option.disabled}
      className="relative flex cursor-default flex-col rounded-sm py-1.5 pr-8 pl-2 text-sm text-ink outline-none select-none data-disabled:text-faint data-highlighted:bg-hover"
    >
      <Primitive.ItemText>
        {option.label}
        {option.hint && <span className="block text-xs text-muted">{option.hint}</span>}
      </Primitive.ItemText>
      <Primitive.ItemIndicator className="absolute top-2 right-2">
        <Check aria-hidden className="size-4 text-accent" />
      </Primitive.ItemIndicator>
    </Primitive.Item>
  )
}
