import { zodResolver } from '@hookform/resolvers/zod'
import { type FormEvent, type ReactNode, useRef } from 'react'
import {
  type FieldValues,
  FormProvider,
  get,
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

/**
 * A form whose values the server's own schema checks before they are sent. Where they follow `values` that are
 * fetched, an answer that comes while somebody types replaces the fields that they have not touched.
 */
export function useZodForm<In extends FieldValues, Out>(
  schema: z.ZodType<Out, In>,
  options: Omit<UseFormProps<In, unknown, Out>, 'resolver'> = {},
): UseFormReturn<In, unknown, Out> {
  return useForm<In, unknown, Out>({
    mode: 'onTouched',
    ...(options.values === undefined ? {} : { resetOptions: { keepDirtyValues: true } }),
    ...options,
    resolver: zodResolver(schema),
  })
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
  const isUnderWay = useRef(false)
  const submit = form.handleSubmit(async (values) => {
    const sent = structuredClone(form.getValues())
    try {
      await onSubmit(values)
      if (form.control._options.values !== undefined) settle(form, sent)
    } catch (error) {
      showServerError(form, error)
    }
  })
  async function submitOnce(event: FormEvent): Promise<void> {
    // Enter and a click reach a form faster than its button is drawn as busy.
    if (isUnderWay.current) return event.preventDefault()
    isUnderWay.current = true
    await submit(event).finally(() => {
      isUnderWay.current = false
    })
  }
  return (
    <FormProvider {...form}>
      <form
        id={id}
        aria-label={label}
        noValidate
        onSubmit={(event) => {
          // A form in a dialog is inside another form's tree of events, though not inside its page.
          event.stopPropagation()
          void submitOnce(event)
        }}
        className={cx('flex flex-col gap-4', className)}
      >
        {children}
      </form>
    </FormProvider>
  )
}

/** What was sent is stored; what was typed since stays a change of it. */
function settle<In extends FieldValues, Out>(form: UseFormReturn<In, unknown, Out>, sent: In): void {
  for (const name of form.control._names.mount) {
    // The names are those of this form's own fields.
    const field = name as Path<In>
    const isAsSent = JSON.stringify(form.getValues(field)) === JSON.stringify(get(sent, field))
    if (isAsSent) form.resetField(field, { defaultValue: get(sent, field) })
  }
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
