import { useSuspenseQuery } from '@tanstack/react-query'
import { createLazyRoute, Outlet } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { meQuery } from '../features/users/queries.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { useMediaQuery } from '../ui/use-media-query.ts'
import { useApi } from './app-context.ts'
import { BottomBar } from './bottom-bar.tsx'
import { LiveBanner } from './live-banner.tsx'
import { CommandPalette } from './palette/command-palette.tsx'
import { SessionExpired } from './session-expired.tsx'
import { Sidebar } from './sidebar.tsx'
import { TopBar } from './top-bar.tsx'
import { useShortcuts } from './use-shortcuts.ts'

export const route = createLazyRoute('/signed-in')({ component: Layout })

// Loaded on demand: only a demo has it.
const DemoBanner = lazyPart(async () => (await import('../features/demo/demo-banner.tsx')).DemoBanner)

// Loaded on demand: only phones and browsers with notifications need it.
const PhoneStart = lazyPart(
  async () => (await import('../features/push/phone-start.tsx')).PhoneStart,
  // The pages work without it.
  () => null,
)

/** The frame of every signed-in page: a sidebar, or bars above and below on narrow screens. */
export function Layout() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const isSmall = useMediaQuery('(width < 48rem)')
  const [hasNotifications] = useState(() => localStorage.getItem('roost.push') !== null)
  useShortcuts({ openPalette: () => setPaletteOpen(true) })
  return (
    <div className="flex min-h-dvh flex-col bg-canvas text-ink md:flex-row">
      <a
        href="#content"
        className="sr-only rounded-md bg-accent px-3 py-2 text-accent-ink focus:not-sr-only focus:absolute focus:left-3 focus:top-3 focus:z-50"
      >
        Skip to content
      </a>
      <Sidebar me={me} onSearch={() => setPaletteOpen(true)} />
      <TopBar me={me} onSearch={() => setPaletteOpen(true)} />
      <div className="flex min-w-0 flex-1 flex-col">
        <LiveBanner />
        {(isSmall || hasNotifications) && (
          <Suspense>
            <PhoneStart me={me} isSmall={isSmall} />
          </Suspense>
        )}
        {me.demo && (
          <Suspense>
            <DemoBanner isAdmin={me.role === 'admin'} />
          </Suspense>
        )}
        <main id="content" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
          <Outlet />
        </main>
      </div>
      {isSmall && <BottomBar me={me} />}
      <SessionExpired me={me} />
      <CommandPalette me={me} open={isPaletteOpen} onOpenChange={setPaletteOpen} />
    </div>
  )
}
