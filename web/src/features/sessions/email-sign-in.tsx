import { requestEmailCode, verifyEmailCode } from '@roost/contracts/identity/email-login'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { AddressForm } from './address-form.tsx'
import { CodeForm } from './code-form.tsx'
import type { FirstProofProps } from './password-sign-in.tsx'
import { ResendButton } from './resend-button.tsx'

/** Address, then code. What is said in between is the same for every address. */
export function EmailSignIn({ onToken, onChallenge }: FirstProofProps) {
  const api = useApi()
  const [address, setAddress] = useState('')
  const [sentWords, setSentWords] = useState<string | null>(null)

  async function send(email: string): Promise<void> {
    const { message } = await api.call(requestEmailCode, { body: { email } })
    setAddress(email)
    setSentWords(message)
  }

  async function prove(code: string): Promise<void> {
    const reply = await api.call(verifyEmailCode, { body: { email: address, code } })
    await ('access_token' in reply ? onToken(reply.access_token) : onChallenge(reply))
  }

  if (sentWords === null) return <AddressForm action="Send me a code" address={address} onAddress={send} />
  return (
    <div className="flex flex-col gap-4">
      <div role="status" className="text-sm">
        <p className="text-muted">{sentWords}</p>
        <p className="mt-1 break-words font-medium">{address}</p>
      </div>
      <CodeForm kind="mail" action="Sign in" onCode={prove}>
        <ResendButton onResend={() => send(address)} />
        <Button variant="ghost" onClick={() => setSentWords(null)}>
          Use another address
        </Button>
      </CodeForm>
    </div>
  )
}
