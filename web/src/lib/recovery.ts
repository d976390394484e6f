import { ApiError } from '@roost/contracts/client'
import { CodeNotLoaded } from './code.ts'

/** Whether a failure is temporary: the connection failed, not the request itself. */
export function isPassing(error: unknown): boolean {
  if (error instanceof CodeNotLoaded || isNetworkFault(error)) return true
  return error instanceof ApiError && error.status >= 502 && error.status <= 504 && error.body === null
}

/** The errors that `fetch` throws when no response arrives. */
export function isNetworkFault(error: unknown): boolean {
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message)
}

export type RecoverySetting = {
  wait(ms: number, signal: AbortSignal): Promise<void>
  isHidden(): boolean
  isAnswering(signal: AbortSignal): Promise<boolean>
}

/**
 * Resolves when the platform responds or the signal is aborted. The delay grows with the number of failed
 * rounds (0 for the first). Sends nothing while the page is hidden.
 */
export async function untilAnswering(
  signal: AbortSignal,
  round = 0,
  setting = browserRecovery,
): Promise<void> {
  for (let attempt = round; !signal.aborted; attempt += 1) {
    await setting.wait(Math.min(30_000, 2000 * 2 ** Math.min(attempt, 10)), signal)
    if (!setting.isHidden() && (await setting.isAnswering(signal))) return
  }
}

/**
 * Whether to reload the page for this failure: once per tab and missing file, so that a file that stays
 * missing causes no reload loop.
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
