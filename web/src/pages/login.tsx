import { ApiError } from '@roost/contracts/client'
import { createToken } from '@roost/contracts/identity/sessions'
import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute, useNavigate } from '@tanstack/react-router'
import { z } from 'zod'
import { authModeQuery } from '../features/sessions/queries.ts'
import { safeNext } from '../lib/next-path.ts'
import { useApp } from '../shell/app-context.ts'
import { Doorway } from '../shell/doorway.tsx'
import { Button } from '../ui/button.tsx'
import { Form, FormError, showServerError, TextField, useZodForm } from '../ui/form.tsx'

export const route = createLazyRoute('/login')({ component: Login })

const SignIn = z.object({
  username: z.string().trim().min(1, 'Type your user name or e-mail address.'),
  password: z.string().min(1, 'Type your password.'),
})

function Login() {
  const { api, session, queries } = useApp()
  const navigate = useNavigate()
  const { next } = route.useSearch()
  const { data: mode } = useSuspenseQuery(authModeQuery(api))
  const form = useZodForm(SignIn, { defaultValues: { username: '', password: '' } })

  async function signIn(body: z.output<typeof SignIn>): Promise<void> {
    try {
      const { access_token } = await api.call(createToken, { body })
      queries.clear()
      session.begin(access_token)
      await navigate({ href: safeNext(next), replace: true })
    } catch (error) {
      form.resetField('password')
      showServerError(form, error)
      if (error instanceof ApiError && error.body?.error === 'invalid_credentials') form.setFocus('password')
    }
  }

  return (
    <Doorway title="Sign in to Roost">
      <Form form={form} onSubmit={signIn}>
        <FormError />
        <TextField
          name="username"
          label="User name"
          hint="“admin”, or the admin’s e-mail address"
          autoComplete="username"
          autoFocus
        />
        <TextField type="password" name="password" label="Password" autoComplete="current-password" />
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting} className="w-full">
          Sign in
        </Button>
      </Form>
      {mode.email_auth_enabled ? null : (
        <p className="mt-6 text-center text-faint text-xs">
          Signing in with an e-mail code is off on this installation: it has no mail server.
        </p>
      )}
    </Doorway>
  )
}
