import { createLazyRoute, useLocation } from '@tanstack/react-router'
import { useState, useSyncExternalStore } from 'react'
import { AsksPage } from '../features/workspace-chat/asks-page.tsx'
import { WorkspaceFrame } from '../features/workspace-chat/frame.tsx'
import { GuestFrame } from '../features/workspace-chat/guest-frame.tsx'
import { SelectedAgent, SelectedConversation } from '../features/workspace-chat/selected-agent.tsx'
import { WorkspaceHome } from '../features/workspace-chat/workspace-home.tsx'
import { WorkspaceSignIn } from '../features/workspace-chat/workspace-sign-in.tsx'
import { useApp } from '../shell/app-context.ts'
import { Layout } from '../shell/layout.tsx'

export const route = createLazyRoute('/workspace')({ component: WorkspaceEntry })
export const frameRoute = createLazyRoute('/workspace/frame')({ component: WorkspaceFrame })
export const homeRoute = createLazyRoute('/workspace/frame/')({ component: WorkspaceHome })
export const inboxRoute = createLazyRoute('/workspace/frame/inbox')({ component: AsksPage })
export const agentRoute = createLazyRoute('/workspace/frame/a/$agent')({ component: WithAgent })
export const conversationRoute = createLazyRoute('/workspace/frame/c/$id')({ component: WithConversation })

/** Users sign in as everywhere else; people without an account use an e-mail code. */
function WorkspaceEntry() {
  const { session, guest } = useApp()
  const { href } = useLocation()
  const isPerson = useSyncExternalStore(
    session.onChange,
    () => session.token() !== null || session.isLapsed(),
  )
  const isGuest = useSyncExternalStore(guest.onChange, guest.token) !== null
  const [wasGuest, setWasGuest] = useState(isGuest)
  if (isGuest && !wasGuest) setWasGuest(true)
  if (isPerson) return <Layout />
  if (isGuest) return <GuestFrame />
  return <WorkspaceSignIn next={href} notice={wasGuest ? 'You are signed out.' : null} />
}

function WithAgent() {
  const { agent } = agentRoute.useParams()
  return <SelectedAgent name={agent} chat={null} />
}

function WithConversation() {
  const { id } = conversationRoute.useParams()
  return <SelectedConversation key={id} id={id} />
}
