import { requestWorkspaceCode, verifyWorkspaceCode } from '@roost/contracts/conversations/workspace'
import { Link } from '@tanstack/react-router'
import { useApp } from '../../shell/app-context.ts'
import { Doorway } from '../../shell/doorway.tsx'
import { Banner } from '../../ui/banner.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { MailedCode } from '../sessions/mailed-code.tsx'

type WorkspaceSignInProps = {
  /** Where the person wanted to go. */
  next: string
  /** Why they are asked; null at first. */
  notice: string | null
}

/** Address, then code: for people with whom an agent is shared, whether they have an account or not. */
export function WorkspaceSignIn({ next, notice }: WorkspaceSignInProps) {
  const { api, guest } = useApp()
  async function prove(email: string, code: string): Promise<void> {
    const { token } = await api.call(verifyWorkspaceCode, { body: { email, code } })
    guest.begin(token)
  }
  return (
    <Doorway title="Your Workspace" description="Talk to the agents that are shared with you.">
      <div className="flex flex-col gap-4">
        {notice !== null && <Banner>{notice}</Banner>}
        <MailedCode
          action="Come in"
          onAddress={async (email) => (await api.call(requestWorkspaceCode, { body: { email } })).message}
          onCode={prove}
        />
        <nav aria-label="Other ways" className="flex flex-col border-t pt-4">
          <Link to="/login" search={{ next }} className={buttonClass()}>
            Sign in with an account
          </Link>
        </nav>
      </div>
    </Doorway>
  )
}
