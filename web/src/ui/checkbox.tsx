import { Check, Minus } from 'lucide-react'
import { Checkbox as Primitive } from 'radix-ui'
import { type MouseEvent, type ReactNode, useId } from 'react'
import { cx } from './class-names.ts'
import { useFieldControl } from './field.tsx'

export type CheckboxProps = {
  checked: boolean | 'indeterminate'
  onCheckedChange?: (checked: boolean) => void
  /** Shown beside the box and clickable. */
  children?: ReactNode
  hint?: ReactNode
  /** The accessible name when there is no visible label. */
  label?: string
  disabled?: boolean
  tabIndex?: number
  onClick?: (event: MouseEvent) => void
  onBlur?: () => void
  className?: string
}

export function Checkbox({
  checked,
  onCheckedChange,
  children,
  hint,
  label,
  className,
  ...rest
}: CheckboxProps) {
  const ownId = useId()
  const wiring = useFieldControl()
  const id = wiring.id ?? ownId
  const box = (
    <Primitive.Root
      {...wiring}
      {...rest}
      id={id}
      checked={checked}
      onCheckedChange={(next) => onCheckedChange?.(next === true)}
      aria-label={label}
      aria-describedby={hint ? `${id}-about` : wiring['aria-describedby']}
      className="relative grid size-4 shrink-0 place-items-center rounded-sm border border-control bg-surface text-accent-ink transition-colors duration-75 after:absolute after:-inset-1 hover:border-muted disabled:opacity-50 aria-invalid:border-danger data-[state=checked]:border-accent data-[state=checked]:bg-accent data-[state=indeterminate]:border-accent data-[state=indeterminate]:bg-accent"
    >
      <Primitive.Indicator>
        {checked === 'indeterminate' ? (
          <Minus aria-hidden strokeWidth={3} className="size-3" />
        ) : (
          <Check aria-hidden strokeWidth={3} className="size-3" />
        )}
      </Primitive.Indicator>
    </Primitive.Root>
  )
  if (!children) return box
  return (
    <div className={cx('flex items-start gap-2', className)}>
      <span className="flex h-5 items-center">{box}</span>
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm text-ink">
          {children}
        </label>
        {hint && (
          <p id={`${id}-about`} className="text-xs text-faint">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
