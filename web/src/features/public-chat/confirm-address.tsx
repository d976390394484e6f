import { useApi } from '../../shell/app-context.ts'
import { Doorway } from '../../shell/doorway.tsx'
import { MailedCode } from '../sessions/mailed-code.tsx'
import { askForCode, showCode } from './queries.ts'
import type { Visit } from './visit.ts'

/** For links whose owner wants to know with whom the agent talks. */
export function ConfirmAddress({ token, label, visit }: { token: string; label: string; visit: Visit }) {
  const api = useApi()
  async function prove(email: string, code: string): Promise<void> {
    const { session_token } = await showCode(api, token, email, code)
    visit.keep({ session_token })
  }
  return (
    <Doorway title={label} description="Confirm your e-mail address to talk with this agent.">
      <MailedCode
        action="Come in"
        onAddress={async (email) => (await askForCode(api, token, email)).message}
        onCode={prove}
      />
    </Doorway>
  )
}
