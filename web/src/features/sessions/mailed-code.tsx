import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { AddressForm } from './address-form.tsx'
import { CodeForm } from './code-form.tsx'
import { ResendButton } from './resend-button.tsx'

type MailedCodeProps = {
  /** The verb on the button under the code. */
  action: string
  /** Requests the code. Resolves with a confirmation, which is the same for every address. */
  onAddress: (email: string) => Promise<string>
  onCode: (email: string, code: string) => Promise<void>
}

/** The address, then the code from the e-mail. */
export function MailedCode({ action, onAddress, onCode }: MailedCodeProps) {
  const [address, setAddress] = useState('')
  const [sentWords, setSentWords] = useState<string | null>(null)

  async function send(email: string): Promise<void> {
    const words = await onAddress(email)
    setAddress(email)
    setSentWords(words)
  }
  if (sentWords === null) return <AddressForm action="Send code" address={address} onAddress={send} />
  return (
    <div className="flex flex-col gap-4">
      <div role="status" className="text-sm">
        <p className="text-muted">{sentWords}</p>
        <p className="mt-1 break-words font-medium">{address}</p>
      </div>
      <CodeForm kind="mail" action={action} onCode={(code) => onCode(address, code)}>
        <ResendButton onResend={() => send(address)} />
        <Button variant="ghost" onClick={() => setSentWords(null)}>
          Use another address
        </Button>
      </CodeForm>
    </div>
  )
}
