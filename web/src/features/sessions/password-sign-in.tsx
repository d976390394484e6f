import type { SecondFactorChallenge } from '@roost/contracts/identity/second-factor'
import { createToken } from '@roost/contracts/identity/sessions'
import { z } from 'zod'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Form, FormError, showServerError, TextField, useZodForm } from '../../ui/form.tsx'
import { challengeIn, isRefusal } from './challenge.ts'

const Credentials = z.object({
  username: z.string().trim().min(1, 'Enter your user name or e-mail address.'),
  password: z.string().min(1, 'Enter your password.'),
})

/** The next step after the password or the e-mail code. */
export type FirstProofProps = {
  onToken: (accessToken: string) => Promise<void>
  onChallenge: (challenge: SecondFactorChallenge) => Promise<void>
}

export function PasswordSignIn({ onToken, onChallenge }: FirstProofProps) {
  const api = useApi()
  const form = useZodForm(Credentials, { defaultValues: { username: '', password: '' } })

  async function prove(body: z.output<typeof Credentials>): Promise<void> {
    try {
      const { access_token } = await api.call(createToken, { body })
      await onToken(access_token)
    } catch (error) {
      const challenge = challengeIn(error)
      if (challenge) return onChallenge(challenge)
      form.resetField('password')
      showServerError(form, error)
      if (isRefusal(error, 'invalid_credentials')) form.setFocus('password')
    }
  }

  return (
    <Form form={form} onSubmit={prove}>
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
  )
}
