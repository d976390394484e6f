import type { User } from '@roost/contracts/identity/users'
import { Download } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { useStoredState } from '../../ui/use-stored-state.ts'
import { holderOf, renewDevice } from './device.ts'
import { isAppleMobile, isInstalled } from './support.ts'
import { registerWorker } from './worker.ts'

type InstallPrompt = Event & { prompt(): Promise<{ outcome: 'accepted' | 'dismissed' }> }

declare global {
  interface Window {
    /** Stored by `boot.js`, because the event comes before the application. */
    roostInstall?: InstallPrompt
  }
}

/** Makes a phone ready for the app: the service worker, the notifications of this person, and the offer to install. */
export function PhoneStart({ me, isSmall }: { me: Pick<User, 'id'>; isSmall: boolean }) {
  const { api, session } = useApp()
  useEffect(() => {
    if (!('serviceWorker' in navigator)) return
    // Both only add to the page: it works without them.
    if (isSmall) registerWorker().catch(() => {})
    renewDevice(api, holderOf(me, session)).catch(() => {})
  }, [api, session, me, isSmall])
  return isSmall && !isInstalled() ? <InstallOffer /> : null
}

function InstallOffer() {
  const [isDismissed, setDismissed] = useStoredState('install-offer-dismissed', false)
  const [prompt, setPrompt] = useState(() => window.roostInstall)
  useEffect(() => {
    const take = () => setPrompt(window.roostInstall)
    // The event may have come since the first render.
    take()
    addEventListener('beforeinstallprompt', take)
    return () => removeEventListener('beforeinstallprompt', take)
  }, [])
  const isApple = isAppleMobile(navigator)
  if (isDismissed || !(prompt || isApple)) return null
  const install = async () => {
    // The browser shows a prompt once.
    window.roostInstall = undefined
    await prompt?.prompt()
    setDismissed(true)
  }
  return (
    <div className="px-4 pt-3">
      <Banner
        tone="neutral"
        icon={<Download aria-hidden />}
        title="Install Roost on this device"
        onDismiss={() => setDismissed(true)}
        action={
          prompt && (
            <Button size="sm" onClick={() => void install()}>
              Install
            </Button>
          )
        }
      >
        {prompt
          ? 'It opens like an app and can notify you when an agent asks something.'
          : 'Tap Share, then “Add to Home Screen”. The app can notify you when an agent asks something.'}
      </Banner>
    </div>
  )
}
