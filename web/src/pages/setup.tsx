import { createToken } from '@roost/contracts/identity/sessions'
import { passwordLength, setAdminPassword } from '@roost/contracts/identity/setup'
import { EmailAddress } from '@roost/contracts/identity/users'
import { createLazyRoute, useNavigate } from '@tanstack/react-router'
import { z } from 'zod'
import { PasswordStrength } from '../features/sessions/password-strength.tsx'
import { useApp } from '../shell/app-context.ts'
import { SignedOutPage } from '../shell/signed-out-page.tsx'
import { Button } from '../ui/button.tsx'
import { Form, FormError, TextField, useZodForm } from '../ui/form.tsx'

export const route = createLazyRoute('/setup')({ component: Setup })

const { least, most } = passwordLength
const FirstAdmin = z
  .object({
    password: z
      .string()
      .min(least, `The password must have at least ${least} characters.`)
      .max(most, `The password must have at most ${most} characters.`),
    confirm_password: z.string(),
    email: z.union([z.literal(''), EmailAddress]),
  })
  .refine((body) => body.password === body.confirm_password, {
    path: ['confirm_password'],
    message: 'The passwords do not match.',
  })

/** First run: creates the admin account and signs in. */
function Setup() {
  const { api, session, queries } = useApp()
  const navigate = useNavigate()
  const form = useZodForm(FirstAdmin, { defaultValues: { password: '', confirm_password: '', email: '' } })

  async function setUp({ password, confirm_password, email }: z.output<typeof FirstAdmin>): Promise<void> {
    await api.call(setAdminPassword, { body: { password, confirm_password, email: email || null } })
    const { access_token } = await api.call(createToken, { body: { username: 'admin', password } })
    queries.clear()
    session.begin(access_token)
    await navigate({ to: '/', search: {}, replace: true })
  }

  return (
    <SignedOutPage
      title="Welcome to Roost"
      description="Set a password for the first account. Its user name is “admin”."
    >
      <Form form={form} onSubmit={setUp}>
        <FormError />
        <TextField
          type="password"
          name="password"
          label="Password"
          hint={`${least} to ${most} characters`}
          autoComplete="new-password"
          autoFocus
        />
        <PasswordStrength password={form.watch('password')} />
        <TextField
          type="password"
          name="confirm_password"
          label="Confirm password"
          autoComplete="new-password"
        />
        <TextField
          name="email"
          label="E-mail address"
          hint="Optional. You can sign in with this address instead of “admin”."
          type="email"
          autoComplete="email"
        />
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting} className="w-full">
          Create admin account
        </Button>
      </Form>
    </SignedOutPage>
  )
}
