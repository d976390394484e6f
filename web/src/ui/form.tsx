import { zodResolver } from '@hookform/resolvers/zod'
import type { ReactNode } from 'react'
import {
  type FieldValues,
  FormProvider,
  type Path,
  type UseFormProps,
  type UseFormReturn,
  useForm,
  useFormContext,
} from 'react-hook-form'
import type { z } from 'zod'
import { describeFault } from '../lib/fault.ts'
import { Banner } from './banner.tsx'
import { cx } from './class-names.ts'

export { NumberField, SelectField, SwitchField, TextareaField, TextField } from './form-fields.tsx'

/** A form whose values the server's own schema checks before they are sent. */
export function useZodForm<In extends FieldValues, Out>(
  schema: z.ZodType<Out, In>,
  options: Omit<UseFormProps<In, unknown, Out>, 'resolver'> = {},
): UseFormReturn<In, unknown, Out> {
  return useForm<In, unknown, Out>({ mode: 'onTouched', ...options, resolver: zodResolver(schema) })
}

export type FormProps<In extends FieldValues, Out> = {
  form: UseFormReturn<In, unknown, Out>
  /** What it throws is shown in the form: on the fields it names, else above the buttons. */
  onSubmit: (values: Out) => void | Promise<void>
  children: ReactNode
  id?: string
  label?: string
  className?: string
}

/** Put a `FormError` among the children, before the buttons: what concerns no single field is shown there. */
export function Form<In extends FieldValues, Out>(props: FormProps<In, Out>) {
  const { form, onSubmit, children, id, label, className } = props
  const submit = form.handleSubmit(async (values) => {
    try {
      await onSubmit(values)
    } catch (error) {
      showServerError(form, error)
    }
  })
  return (
    <FormProvider {...form}>
      <form
        id={id}
        aria-label={label}
        noValidate
        onSubmit={(event) => {
          // A form in a dialog is inside another form's tree of events, though not inside its page.
          event.stopPropagation()
          void submit(event)
        }}
        className={cx('flex flex-col gap-4', className)}
      >
        {children}
      </form>
    </FormProvider>
  )
}

/**
 * Puts a failed request where the person looks: on the fields it names, the first of them focused. What names
 * no field of this form becomes the form's own error, with the error code.
 */
export function showServerError<In extends FieldValues, Out>(
  form: UseFormReturn<In, unknown, Out>,
  error: unknown,
): void {
  const { fields, sentence, code, requestId } = describeFault(error)
  const unplaced: string[] = []
  const placed = new Set<string>()
  for (const [name, text] of Object.entries(fields)) {
    const field = nearestField(form, name)
    if (field === null || placed.has(field)) {
      unplaced.push(`${name}: ${text}`)
      continue
    }
    // The name was found among the form's own fields right above.
    form.setError(field as Path<In>, { type: 'server', message: text }, { shouldFocus: placed.size === 0 })
    placed.add(field)
  }
  if (placed.size > 0 && unplaced.length === 0) return
  const place = requestId ? `${code}, request ${requestId}` : code
  form.setError('root.server', { type: place, message: unplaced.join('; ') || sentence })
}

/** The failure of the whole form; nothing while there is none. */
export function FormError() {
  const { formState } = useFormContext()
  const failure = formState.errors.root?.server
  if (!failure?.message) return null
  return (
    <Banner tone="danger" title={failure.message}>
      <code className="text-xs">{failure.type}</code>
    </Banner>
  )
}

/** The field of that name or the one that holds it (`channels` for `channels.0.url`); null when there is none. */
function nearestField<In extends FieldValues, Out>(
  form: UseFormReturn<In, unknown, Out>,
  name: string,
): string | null {
  const mounted = form.control._names.mount
  const steps = name.split('.')
  for (let length = steps.length; length > 0; length--) {
    const candidate = steps.slice(0, length).join('.')
    if (mounted.has(candidate)) return candidate
  }
  return null
}
