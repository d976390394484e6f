import { useApi } from '../../shell/app-context.ts'
import { SignedOutPage } from '../../shell/signed-out-page.tsx'
import { MailedCode } from '../sessions/mailed-code.tsx'
import { askForCode, showCode } from './queries.ts'
import type { Visit } from './visit.ts'

/** For links that require a confirmed e-mail address. */
export function ConfirmAddress({ token, label, visit }: { token: string; label: string; visit: Visit }) {
  const api = useApi()
  async function prove(email: string, code: string): Promise<void> {
    const { session_token } = await showCode(api, token, email, code)
    visit.store({ session_token })
  }
  return (
    <SignedOutPage title={label} description="Confirm your e-mail address to chat with this agent.">
      <MailedCode
        action="Start chat"
        onAddress={async (email) => (await askForCode(api, token, email)).message}
        onCode={prove}
      />
    </SignedOutPage>
  )
}
