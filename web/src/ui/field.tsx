import { CircleAlert } from 'lucide-react'
import { createContext, type ReactNode, useContext, useId } from 'react'
import { cx } from './class-names.ts'
import { fieldSentence } from './field-sentence.ts'

export type FieldProps = {
  label: string
  hint?: ReactNode
  error?: string | null
  required?: boolean
  /** Hides the label visually when the surroundings already show it. */
  hideLabel?: boolean
  /** `row`: text on the left, a small control such as a switch on the right. */
  layout?: 'stack' | 'row'
  className?: string
  children: ReactNode
}

/** Labels and describes the control inside. All controls of `ui/` connect to it automatically. */
export function Field(props: FieldProps) {
  const { label, hint, error, required = false, hideLabel, layout = 'stack', className, children } = props
  const id = useId()
  const wiring: FieldWiring = {
    id,
    labelId: `${id}-label`,
    describedBy: error ? `${id}-error` : hint ? `${id}-hint` : undefined,
    invalid: Boolean(error),
    required,
  }
  const words = (
    <label
      id={wiring.labelId}
      htmlFor={id}
      className={hideLabel ? 'sr-only' : 'w-fit text-sm font-medium text-ink'}
    >
      {label}
      {required && (
        <span aria-hidden="true" className="ml-0.5 text-danger">
          *
        </span>
      )}
    </label>
  )
  const control = <FieldContext value={wiring}>{children}</FieldContext>
  const about = error ? (
    <FieldError id={id} error={fieldSentence(label, error)} />
  ) : (
    hint && <FieldHint id={id} hint={hint} />
  )
  if (layout === 'row') {
    return (
      <div className={cx('flex min-w-0 items-start justify-between gap-4', className)}>
        <div className="flex min-w-0 flex-col gap-0.5">
          {words}
          {about}
        </div>
        {control}
      </div>
    )
  }
  return (
    <div className={cx('flex min-w-0 flex-col gap-1.5', className)}>
      {words}
      {control}
      {about}
    </div>
  )
}

function FieldError({ id, error }: { id: string; error: string }) {
  return (
    <p id={`${id}-error`} className="flex items-start gap-1 text-xs text-danger">
      <CircleAlert aria-hidden className="mt-0.5 size-3 shrink-0" />
      {error}
    </p>
  )
}

function FieldHint({ id, hint }: { id: string; hint: ReactNode }) {
  return (
    <p id={`${id}-hint`} className="text-xs text-faint">
      {hint}
    </p>
  )
}

export type FieldWiring = {
  id: string
  labelId: string
  describedBy: string | undefined
  invalid: boolean
  required: boolean
}

/** The attributes of a control from the surrounding `Field`; empty without one. */
export function useFieldControl() {
  const field = useContext(FieldContext)
  if (!field) return {}
  return {
    id: field.id,
    'aria-describedby': field.describedBy,
    'aria-invalid': field.invalid || undefined,
    'aria-required': field.required || undefined,
  }
}

/** For controls with several parts, which `<label for>` cannot label. */
export function useFieldGroup() {
  const field = useContext(FieldContext)
  if (!field) return {}
  return { id: field.id, 'aria-labelledby': field.labelId, 'aria-describedby': field.describedBy }
}

const FieldContext = createContext<FieldWiring | null>(null)
