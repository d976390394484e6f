import { requestWorkspaceCode, verifyWorkspaceCode } from '@roost/contracts/conversations/workspace'
import { Link } from '@tanstack/react-router'
import { useApp } from '../../shell/app-context.ts'
import { SignedOutPage } from '../../shell/signed-out-page.tsx'
import { Banner } from '../../ui/banner.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { MailedCode } from '../sessions/mailed-code.tsx'

type WorkspaceSignInProps = {
  /** The page to open after sign-in. */
  next: string
  /** Why a sign-in is needed; null at first. */
  notice: string | null
}

/** The e-mail address, then the code, for users with access to an agent, with or without an account. */
export function WorkspaceSignIn({ next, notice }: WorkspaceSignInProps) {
  const { api, guest } = useApp()
  async function prove(email: string, code: string): Promise<void> {
    const { token } = await api.call(verifyWorkspaceCode, { body: { email, code } })
    guest.begin(token)
  }
  return (
    <SignedOutPage title="Your Workspace" description="Chat with the agents that are shared with you.">
      <div className="flex flex-col gap-4">
        {notice !== null && <Banner>{notice}</Banner>}
        <MailedCode
          action="Sign in"
          onAddress={async (email) => (await api.call(requestWorkspaceCode, { body: { email } })).message}
          onCode={prove}
        />
        <nav aria-label="Other sign-in methods" className="flex flex-col border-t pt-4">
          <Link to="/login" search={{ next }} className={buttonClass()}>
            Sign in with an account
          </Link>
        </nav>
      </div>
    </SignedOutPage>
  )
}
