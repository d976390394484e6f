import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Doorway } from '../../shell/doorway.tsx'
import { Button } from '../../ui/button.tsx'
import { AddressForm } from '../sessions/address-form.tsx'
import { CodeForm } from '../sessions/code-form.tsx'
import { ResendButton } from '../sessions/resend-button.tsx'
import { askForCode, showCode } from './queries.ts'
import type { Visit } from './visit.ts'

/** Address, then the code from its mail: for links whose owner wants to know with whom the agent talks. */
export function ConfirmAddress({ token, label, visit }: { token: string; label: string; visit: Visit }) {
  const api = useApi()
  const [address, setAddress] = useState('')
  const [sentWords, setSentWords] = useState<string | null>(null)

  async function send(email: string): Promise<void> {
    const { message } = await askForCode(api, token, email)
    setAddress(email)
    setSentWords(message)
  }
  async function prove(code: string): Promise<void> {
    const { session_token } = await showCode(api, token, address, code)
    visit.keep({ session_token })
  }
  return (
    <Doorway title={label} description="Confirm your e-mail address to talk with this agent.">
      {sentWords === null ? (
        <AddressForm action="Send me a code" address={address} onAddress={send} />
      ) : (
        <div className="flex flex-col gap-4">
          <div role="status" className="text-sm">
            <p className="text-muted">{sentWords}</p>
            <p className="mt-1 break-words font-medium">{address}</p>
          </div>
          <CodeForm kind="mail" action="Come in" onCode={prove}>
            <ResendButton onResend={() => send(address)} />
            <Button variant="ghost" onClick={() => setSentWords(null)}>
              Use another address
            </Button>
          </CodeForm>
        </div>
      )}
    </Doorway>
  )
}
