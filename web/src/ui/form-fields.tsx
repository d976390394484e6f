import type { ReactNode } from 'react'
import { type ControllerRenderProps, useController } from 'react-hook-form'
import { Field, type FieldProps } from './field.tsx'
import { Input, type InputProps, NumberInput, PasswordInput, Textarea, type TextareaProps } from './input.tsx'
import { Select, type SelectOption } from './select.tsx'
import { Switch } from './switch.tsx'

type FieldBasics = {
  /** The path of the value in the form. */
  name: string
  label: string
  hint?: ReactNode
  required?: boolean
  className?: string
}

/** The form value of an empty control: optional schemas refuse an empty string. */
type Emptied = { emptyAs?: 'text' | 'null' | 'undefined' }

export type TextFieldProps = FieldBasics & Emptied & Omit<InputProps, 'name' | 'value' | 'onChange' | 'ref'>

export function TextField({
  name,
  label,
  hint,
  required,
  className,
  emptyAs = 'text',
  ...rest
}: TextFieldProps) {
  const Control = rest.type === 'password' ? PasswordInput : Input
  return (
    <Wired {...{ name, label, hint, required, className }}>
      {(field) => (
        <Control
          {...rest}
          {...field}
          value={field.value ?? ''}
          onChange={(event) => field.onChange(emptied(event.target.value, emptyAs))}
        />
      )}
    </Wired>
  )
}

export type TextareaFieldProps = FieldBasics &
  Emptied &
  Omit<TextareaProps, 'name' | 'value' | 'onChange' | 'ref'>

export function TextareaField(props: TextareaFieldProps) {
  const { name, label, hint, required, className, emptyAs = 'text', ...rest } = props
  return (
    <Wired {...{ name, label, hint, required, className }}>
      {(field) => (
        <Textarea
          {...rest}
          {...field}
          value={field.value ?? ''}
          onChange={(event) => field.onChange(emptied(event.target.value, emptyAs))}
        />
      )}
    </Wired>
  )
}

export type NumberFieldProps = FieldBasics & {
  emptyAs?: 'null' | 'undefined'
  unit?: string
  min?: number
  max?: number
  step?: number | 'any'
  placeholder?: string
  disabled?: boolean
}

export function NumberField(props: NumberFieldProps) {
  const { name, label, hint, required, className, emptyAs = 'undefined', ...rest } = props
  return (
    <Wired {...{ name, label, hint, required, className }}>
      {(field) => (
        <NumberInput
          {...rest}
          ref={field.ref}
          name={field.name}
          onBlur={field.onBlur}
          value={field.value ?? null}
          onValueChange={(value) => field.onChange(value ?? emptied('', emptyAs))}
        />
      )}
    </Wired>
  )
}

export type SelectFieldProps = FieldBasics & {
  options: readonly SelectOption[]
  placeholder?: string
  disabled?: boolean
}

export function SelectField({ name, label, hint, required, className, ...rest }: SelectFieldProps) {
  return (
    <Wired {...{ name, label, hint, required, className }}>
      {(field) => (
        <Select {...rest} value={field.value ?? null} onValueChange={field.onChange} onBlur={field.onBlur} />
      )}
    </Wired>
  )
}

export type SwitchFieldProps = Omit<FieldBasics, 'required'> & { disabled?: boolean }

export function SwitchField({ name, label, hint, disabled, className }: SwitchFieldProps) {
  return (
    <Wired {...{ name, label, hint, className }} layout="row">
      {(field) => (
        <Switch
          checked={field.value === true}
          onCheckedChange={field.onChange}
          onBlur={field.onBlur}
          disabled={disabled}
        />
      )}
    </Wired>
  )
}

type WiredProps = FieldBasics & {
  layout?: FieldProps['layout']
  children: (field: ControllerRenderProps) => ReactNode
}

/** A labelled control with the form's value and validation message. */
function Wired({ name, children, ...basics }: WiredProps) {
  const { field, fieldState } = useController({ name })
  return (
    <Field {...basics} error={fieldState.error?.message}>
      {children(field)}
    </Field>
  )
}

function emptied(text: string, as: 'text' | 'null' | 'undefined'): string | null | undefined {
  if (text !== '' || as === 'text') return text
  return as === 'null' ? null : undefined
}
