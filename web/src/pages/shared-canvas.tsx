import { ApiError } from '@roost/contracts/client'
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, useLocation } from '@tanstack/react-router'
import { LinkIcon } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { nameOf } from '../features/canvas/names.ts'
import { sharedCanvasQuery } from '../features/canvas/queries.ts'
import { SharedCanvasSheet } from '../features/canvas/shared-canvas.tsx'
import { WorkspaceSignIn } from '../features/workspace-chat/workspace-sign-in.tsx'
import { useApp } from '../shell/app-context.ts'
import { PagePending } from '../shell/page-pending.tsx'
import { SignedOutPage } from '../shell/signed-out-page.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/canvas/s/$token')({ component: SharedCanvasPage })

/** The canvas behind a share link. Signs in first when the link requires an account. */
function SharedCanvasPage() {
  const { token } = route.useParams()
  const { api, session, guest } = useApp()
  const { href } = useLocation()
  const person = useSyncExternalStore(session.onChange, session.token)
  const visitor = useSyncExternalStore(guest.onChange, guest.token)
  const canvas = useQuery(sharedCanvasQuery(api, token, person ?? visitor))
  switch (codeOf(canvas.error)) {
    case 'sign_in_required':
      return (
        <WorkspaceSignIn
          next={href}
          notice="This canvas is only for people with access to its agent. Sign in to see it."
        />
      )
    case 'access_recheck_failed':
      return <NoAccess onOther={() => (person === null ? guest : session).end()} />
    case 'canvas_not_found':
      return (
        <main className="grid min-h-dvh place-items-center bg-canvas text-ink">
          <EmptyState
            isPage
            icon={<LinkIcon aria-hidden />}
            title="This link is not valid"
            description="The link has expired or the canvas was deleted. Ask the sender for a new link."
          />
        </main>
      )
  }
  if (canvas.data) {
    return (
      <>
        <Title of={[nameOf(canvas.data)]} />
        <SharedCanvasSheet canvas={canvas.data} />
      </>
    )
  }
  if (!canvas.error) return <PagePending />
  return (
    <main className="grid min-h-dvh place-items-center bg-canvas text-ink">
      <ErrorState
        title="Could not load the canvas"
        error={canvas.error}
        onRetry={() => void canvas.refetch()}
      />
    </main>
  )
}

function NoAccess({ onOther }: { onOther: () => void }) {
  return (
    <SignedOutPage
      title="No access with this account"
      description="You do not have access to the agent that owns this canvas."
    >
      <Button className="w-full" onClick={onOther}>
        Sign in with another account
      </Button>
    </SignedOutPage>
  )
}

function codeOf(error: unknown): string | null {
  return error instanceof ApiError ? (error.body?.error ?? null) : null
}
