/** Whether this browser can show notifications here, else why not. */
export type PushSupport = 'ready' | 'insecure' | 'needs_install' | 'unsupported' | 'blocked'

export type Surroundings = {
  isSecure: boolean
  hasWorker: boolean
  hasPush: boolean
  isAppleMobile: boolean
  isInstalled: boolean
  permission: NotificationPermission | null
}

export function supportIn(around: Surroundings): PushSupport {
  if (!around.isSecure) return 'insecure'
  // Safari on phones offers notifications only to installed apps.
  if (around.isAppleMobile && !around.isInstalled) return 'needs_install'
  if (!around.hasWorker || !around.hasPush || around.permission === null) return 'unsupported'
  return around.permission === 'denied' ? 'blocked' : 'ready'
}

export function pushSupport(): PushSupport {
  return supportIn({
    isSecure: isSecureContext,
    hasWorker: 'serviceWorker' in navigator,
    hasPush: 'PushManager' in window,
    isAppleMobile: isAppleMobile(navigator),
    isInstalled: isInstalled(),
    permission: 'Notification' in window ? Notification.permission : null,
  })
}

/** True in the window of the installed app. */
export const isInstalled = (): boolean => matchMedia('(display-mode: standalone)').matches

/** iPads call themselves a Macintosh, but have a touch screen. */
export function isAppleMobile(of: Pick<Navigator, 'userAgent' | 'maxTouchPoints'>): boolean {
  return /iPhone|iPod|iPad/.test(of.userAgent) || (/Macintosh/.test(of.userAgent) && of.maxTouchPoints > 1)
}

const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(A|iOS)?\//, 'Edge'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/OPR\//, 'Opera'],
  [/Firefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\/|HeadlessChrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPod/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'macOS'],
  [/Linux|CrOS/, 'Linux'],
]

/** The name of this device in the list, such as `Chrome on Android`. */
export function deviceName(userAgent: string): string {
  const find = (names: typeof browsers) => names.find(([pattern]) => pattern.test(userAgent))?.[1]
  return `${find(browsers) ?? 'Browser'} on ${find(systems) ?? 'unknown system'}`
}
