import { RadioGroup } from 'radix-ui'
import type { ReactNode } from 'react'
import { useFieldGroup } from './field.tsx'

export type RadioCard<Value extends string> = {
  value: Value
  label: string
  hint?: ReactNode
  disabled?: boolean
}

export type RadioCardsProps<Value extends string> = {
  value: Value
  onValueChange: (value: Value) => void
  options: readonly RadioCard<Value>[]
  /** The accessible name when no surrounding `Field` provides one. */
  label?: string
}

/** A choice among a few options that each need a sentence of explanation. */
export function RadioCards<Value extends string>({
  value,
  onValueChange,
  options,
  label,
}: RadioCardsProps<Value>) {
  const wiring = useFieldGroup()
  return (
    <RadioGroup.Root
      {...wiring}
      aria-label={label}
      value={value}
      // The primitive returns only values of the given options.
      onValueChange={(next) => onValueChange(next as Value)}
      className="flex flex-col gap-2"
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          value={option.value}
          disabled={option.disabled}
          className="flex w-full items-start gap-2.5 rounded-md border border-control bg-surface px-3 py-2 text-left transition-colors duration-100 hover:border-muted disabled:opacity-50 data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
        >
          <span
            aria-hidden
            className="mt-0.5 grid size-4 shrink-0 place-items-center rounded-full border border-control bg-surface"
          >
            <RadioGroup.Indicator className="size-2 rounded-full bg-accent" />
          </span>
          <span className="min-w-0">
            <span className="block font-medium text-ink text-sm">{option.label}</span>
            {option.hint && <span className="mt-0.5 block text-muted text-xs">{option.hint}</span>}
          </span>
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  )
}
