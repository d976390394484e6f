import { ApiError } from '@roost/contracts/client'
import { CodeNotLoaded } from './code.ts'

/** Whether a failure passes by itself: the way to the platform was at fault, and not what was asked. */
export function isPassing(error: unknown): boolean {
  if (error instanceof CodeNotLoaded || isNetworkFault(error)) return true
  return error instanceof ApiError && error.status >= 502 && error.status <= 504 && error.body === null
}

/** What `fetch` throws when no answer came. */
export function isNetworkFault(error: unknown): boolean {
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message)
}

export type RecoverySetting = {
  wait(ms: number, signal: AbortSignal): Promise<void>
  isHidden(): boolean
  isAnswering(signal: AbortSignal): Promise<boolean>
}

/**
 * Resolves when the platform answers again, at the earliest after a pause which grows with the rounds that
 * were of no use (0 for the first); or when the signal is aborted. Asks nothing while nobody looks.
 */
export async function untilAnswering(
  signal: AbortSignal,
  round = 0,
  setting = browserRecovery,
): Promise<void> {
  for (let asked = round; !signal.aborted; asked += 1) {
    await setting.wait(Math.min(30_000, 2000 * 2 ** Math.min(asked, 10)), signal)
    if (!setting.isHidden() && (await setting.isAnswering(signal))) return
  }
}

/**
 * Whether the whole page is worth fetching again for this failure: once in the life of a tab, so that a file
 * which is missing for good ends in words and not in a circle.
 */
export function mayReloadFor(error: unknown, memory: Pick<Storage, 'getItem' | 'setItem'>): boolean {
  if (!(error instanceof CodeNotLoaded)) return false
  const known = (memory.getItem(reloadsKey) ?? '').split('\n')
  if (known.includes(error.message)) return false
  memory.setItem(reloadsKey, [...known, error.message].slice(-20).join('\n'))
  return true
}

const reloadsKey = 'roost.reloads'

const browserRecovery: RecoverySetting = {
  wait: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        window.removeEventListener('online', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      window.addEventListener('online', done)
      signal.addEventListener('abort', done, { once: true })
    }),
  isHidden: () => document.hidden,
  isAnswering: (signal) =>
    fetch('/health', {
      cache: 'no-store',
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    }).then(
      ({ ok }) => ok,
      () => false,
    ),
}
