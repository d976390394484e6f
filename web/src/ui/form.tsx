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
import { FaultCode } from './fault-code.tsx'
import { fieldSentence } from './field-sentence.ts'

export { NumberField, SelectField, SwitchField, TextareaField, TextField } from './form-fields.tsx'

/**
 * Creates a form that validates with the server's schema. When it follows fetched `values`, a new response
 * updates only fields that the user has not changed.
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
  /** Submits. Thrown errors appear at the fields they name, else above the buttons. */
  onSubmit: (values: Out) => void | Promise<void>
  children: ReactNode
  id?: string
  label?: string
  className?: string
}

/** Place a `FormError` before the buttons: it shows errors that belong to no single field. */
export function Form<In extends FieldValues, Out>(props: FormProps<In, Out>) {
  const { form, onSubmit, children, id, label, className } = props
  const isUnderWay = useRef(false)
  const submit = form.handleSubmit(async (values) => {
    const submitted = structuredClone(form.getValues())
    try {
      await onSubmit(values)
      if (form.control._options.values !== undefined) settle(form, submitted)
    } catch (error) {
      showServerError(form, error)
    }
  })
  async function submitOnce(event: FormEvent): Promise<void> {
    // Enter and a click can both arrive before the button renders as busy.
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
          // React events of a form in a dialog also bubble to the outer form, although the DOM does not nest
          // them.
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

/** Marks the sent values as stored; input typed since then stays unsaved. */
function settle<In extends FieldValues, Out>(form: UseFormReturn<In, unknown, Out>, submitted: In): void {
  for (const name of form.control._names.mount) {
    // The keys are field names of this form.
    const field = name as Path<In>
    const isAsSent = JSON.stringify(form.getValues(field)) === JSON.stringify(get(submitted, field))
    if (isAsSent) form.resetField(field, { defaultValue: get(submitted, field) })
  }
}

/**
 * Shows a failed request at the fields it names and focuses the first one. Without a matching field it
 * becomes the form's own error.
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
      unplaced.push(fieldSentence(name, text))
      continue
    }
    // The name was found among the form's fields above.
    form.setError(field as Path<In>, { type: 'server', message: text }, { shouldFocus: placed.size === 0 })
    placed.add(field)
  }
  if (placed.size > 0 && unplaced.length === 0) return
  const place = requestId ? `${code}, request ${requestId}` : code
  form.setError('root.server', { type: place, message: unplaced.join(' ') || sentence })
}

/** The error of the whole form. */
export function FormError() {
  const { formState } = useFormContext()
  const failure = formState.errors.root?.server
  if (!failure?.message) return null
  return (
    <Banner tone="danger" title={failure.message}>
      <span className="text-xs">
        <FaultCode code={String(failure.type)} />
      </span>
    </Banner>
  )
}

/** The field with this name or its parent (`channels` for `channels.0.url`); null when unknown. */
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
