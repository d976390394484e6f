import type { ReactNode } from 'react'
import { z } from 'zod'
import { describeFault } from '../../lib/fault.ts'
import { Button, type ButtonVariant } from '../../ui/button.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { isRefusal } from './challenge.ts'
import { DigitCode, RecoveryCode } from './code-text.ts'

export type CodeKind = 'app' | 'recovery' | 'mail'

export type CodeFormProps = {
  kind: CodeKind
  /** The verb on the button. */
  action: string
  variant?: ButtonVariant
  /** A wrong code is shown at the field, other errors above it. */
  onCode: (code: string) => Promise<void>
  /** Additional buttons below the form. */
  children?: ReactNode
}

/** Asks for one code. Pass a `key` to reset the form for another kind of code. */
export function CodeForm({ kind, action, variant = 'primary', onCode, children }: CodeFormProps) {
  const { schema, ...field } = kinds[kind]
  const form = useZodForm(z.object({ code: schema }), { defaultValues: { code: '' } })

  async function submit({ code }: { code: string }): Promise<void> {
    try {
      await onCode(code)
    } catch (error) {
      form.resetField('code')
      if (!isRefusal(error, 'invalid_code')) throw error
      form.setError('code', { type: 'server', message: describeFault(error).sentence })
      form.setFocus('code')
    }
  }

  return (
    <Form form={form} onSubmit={submit}>
      <FormError />
      <TextField {...field} name="code" mono autoFocus spellCheck={false} />
      <Button type="submit" variant={variant} pending={form.formState.isSubmitting} className="w-full">
        {action}
      </Button>
      {children ? <div className="flex flex-col gap-1">{children}</div> : null}
    </Form>
  )
}

const digits = { schema: DigitCode, inputMode: 'numeric', autoComplete: 'one-time-code' } as const
const kinds = {
  app: { ...digits, label: 'Code from the app', hint: 'The current 6-digit code for Roost' },
  mail: { ...digits, label: 'Code from the e-mail', hint: '6 digits, valid for 10 minutes' },
  recovery: {
    schema: RecoveryCode,
    autoComplete: 'off',
    autoCapitalize: 'characters',
    label: 'Recovery code',
    hint: 'One of your ten stored codes. Each works once.',
  },
} as const
