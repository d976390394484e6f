import type { Clock } from '../../kit/clock.ts'

export type Windows = {
  count(key: string, windowSeconds: number): { count: number; resetsInSeconds: number }
  peek(key: string): number
  remove(key: string): void
}

/** Bounds memory when somebody guesses many names. The oldest windows are removed first. */
const maxWindows = 50_000

/** Fixed windows in the memory of this process, used while the shared store is unavailable. */
export function createWindows(clock: Pick<Clock, 'now'>): Windows {
  const windows = new Map<string, { count: number; endsAt: number }>()
  const now = () => clock.now().getTime()
  const live = (key: string) => {
    const window = windows.get(key)
    if (window && window.endsAt > now()) return window
    windows.delete(key)
    return null
  }
  return {
    count(key, windowSeconds) {
      const window = live(key) ?? { count: 0, endsAt: now() + windowSeconds * 1000 }
      window.count += 1
      windows.set(key, window)
      const [oldest] = windows.keys()
      if (windows.size > maxWindows && oldest !== undefined) windows.delete(oldest)
      return { count: window.count, resetsInSeconds: Math.max(1, Math.ceil((window.endsAt - now()) / 1000)) }
    },
    peek: (key) => live(key)?.count ?? 0,
    remove: (key) => void windows.delete(key),
  }
}
