import { requestEmailCode, verifyEmailCode } from '@roost/contracts/identity/email-login'
import { useApi } from '../../shell/app-context.ts'
import { MailedCode } from './mailed-code.tsx'
import type { FirstProofProps } from './password-sign-in.tsx'

/** Sign-in with an e-mail code. */
export function EmailSignIn({ onToken, onChallenge }: FirstProofProps) {
  const api = useApi()

  async function prove(email: string, code: string): Promise<void> {
    const reply = await api.call(verifyEmailCode, { body: { email, code } })
    await ('access_token' in reply ? onToken(reply.access_token) : onChallenge(reply))
  }
  return (
    <MailedCode
      action="Sign in"
      onAddress={async (email) => (await api.call(requestEmailCode, { body: { email } })).message}
      onCode={prove}
    />
  )
}
