import { requestWorkspaceCode, verifyWorkspaceCode } from '@roost/contracts/conversations/workspace'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { Doorway } from '../../shell/doorway.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { AddressForm } from '../sessions/address-form.tsx'
import { CodeForm } from '../sessions/code-form.tsx'
import { ResendButton } from '../sessions/resend-button.tsx'

type WorkspaceSignInProps = {
  /** Where the person wanted to go. */
  next: string
  /** Why they are asked; null at first. */
  notice: string | null
}

/** Address, then code: for people with whom an agent is shared, whether they have an account or not. */
export function WorkspaceSignIn({ next, notice }: WorkspaceSignInProps) {
  const { api, guest } = useApp()
  const [address, setAddress] = useState('')
  const [sentWords, setSentWords] = useState<string | null>(null)

  async function send(email: string): Promise<void> {
    const { message } = await api.call(requestWorkspaceCode, { body: { email } })
    setAddress(email)
    setSentWords(message)
  }
  async function prove(code: string): Promise<void> {
    const { token } = await api.call(verifyWorkspaceCode, { body: { email: address, code } })
    guest.begin(token)
  }
  return (
    <Doorway title="Your Workspace" description="Talk to the agents that are shared with you.">
      <div className="flex flex-col gap-4">
        {notice !== null && <Banner>{notice}</Banner>}
        {sentWords === null ? (
          <AddressForm action="Send me a code" address={address} onAddress={send} />
        ) : (
          <>
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
          </>
        )}
        <nav aria-label="Other ways" className="flex flex-col border-t pt-4">
          <Link to="/login" search={{ next }} className={buttonClass()}>
            Sign in with an account
          </Link>
        </nav>
      </div>
    </Doorway>
  )
}
