import { leaveWorkspace } from '@roost/contracts/conversations/workspace'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import { useEffect, useState } from 'react'
import { createApi } from '../../lib/api.ts'
import { startPolling } from '../../live/poll.ts'
import { type App, AppContext, useApi, useApp } from '../../shell/app-context.ts'
import { Logo } from '../../shell/logo.tsx'
import { chooseTheme, chosenTheme } from '../../shell/theme.ts'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { rosterQuery } from './queries.ts'

/** The Workspace of a guest, without the rest of the platform around it. */
export function GuestFrame() {
  const app = useGuestApp()
  return (
    <AppContext value={app}>
      <div className="flex h-dvh flex-col bg-canvas text-ink">
        <a
          href="#content"
          className="sr-only rounded-md bg-accent px-3 py-2 text-accent-ink focus:not-sr-only focus:absolute focus:top-3 focus:left-3 focus:z-50"
        >
          Skip to content
        </a>
        <header className="flex h-12 shrink-0 items-center justify-between gap-3 border-b border-line bg-surface px-4">
          <Link to="/workspace" className="flex items-center gap-2 font-semibold tracking-tight">
            <Logo className="size-6 text-accent" />
            Roost
          </Link>
          <GuestMenu />
        </header>
        <main id="content" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
          <Outlet />
        </main>
      </div>
    </AppContext>
  )
}

/** The application context of a guest: calls use the Workspace session. */
function useGuestApp(): App {
  const app = useApp()
  const [live, setLive] = useState(app.live)
  useEffect(() => {
    const polling = startPolling(app.queries)
    setLive(polling)
    return () => polling.close()
  }, [app.queries])
  const [api] = useState(() => createApi(location.origin, app.guest))
  return { ...app, api, session: app.guest, live }
}

const themes = [
  { value: 'light', label: 'Light', icon: <Sun aria-hidden /> },
  { value: 'dark', label: 'Dark', icon: <Moon aria-hidden /> },
  { value: 'system', label: 'System', icon: <Monitor aria-hidden /> },
] as const

function GuestMenu() {
  const { session } = useApp()
  const api = useApi()
  const { data } = useQuery(rosterQuery(api))
  const [theme, setTheme] = useState(chosenTheme)
  // Ends the session in this browser even when the request fails.
  const signOut = () =>
    void api
      .call(leaveWorkspace, {})
      .catch(() => {})
      .finally(() => session.end())
  return (
    <Menu
      trigger={
        <Button variant="ghost" icon={<UserRound aria-hidden />} className="min-w-0 shrink!">
          <span className="truncate">{data?.client_email ?? 'Account'}</span>
        </Button>
      }
      items={[
        { heading: 'Theme' },
        ...themes.map(({ value, label }) => ({
          label,
          checked: theme === value,
          onSelect: () => {
            setTheme(value)
            chooseTheme(value)
          },
        })),
        'separator',
        { label: 'Sign out', icon: <LogOut aria-hidden />, onSelect: signOut },
      ]}
    />
  )
}
