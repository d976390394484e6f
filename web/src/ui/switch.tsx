import { Switch as Primitive } from 'radix-ui'
import { useFieldControl } from './field.tsx'

export type SwitchProps = {
  checked: boolean
  onCheckedChange: (checked: boolean) => void
  /** The accessible name when no surrounding `Field` provides one. */
  label?: string
  disabled?: boolean
  onBlur?: () => void
}

/** For changes that apply immediately. Use `Checkbox` for a choice that waits for "Save". */
export function Switch({ label, ...rest }: SwitchProps) {
  const wiring = useFieldControl()
  return (
    <Primitive.Root
      {...wiring}
      {...rest}
      aria-label={label}
      className="relative inline-flex h-5 w-9 shrink-0 items-center rounded-full border border-control bg-sunken transition-colors duration-100 disabled:opacity-50 data-[state=checked]:border-accent data-[state=checked]:bg-accent"
    >
      <Primitive.Thumb className="block size-3.5 translate-x-0.5 rounded-full bg-control transition-transform duration-100 data-[state=checked]:translate-x-[1.125rem] data-[state=checked]:bg-accent-ink" />
    </Primitive.Root>
  )
}
