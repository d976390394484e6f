import type { Clock } from '../../kit/clock.ts'
import type { Log } from '../log.ts'
import type { Ephemeral } from './port.ts'

type Entry = { value: string; expiresAt: number }
type Listener = (message: string) => void

/** Data of this process only: nothing to install, nothing persistent. */
export function memoryEphemeral(deps: { clock: Pick<Clock, 'now'>; log: Pick<Log, 'warn'> }): Ephemeral {
  const { clock, log } = deps
  const entries = new Map<string, Entry>()
  const topics = new Map<string, Set<Listener>>()
  let sweepAt = 0

  const now = () => clock.now().getTime()
  const live = (key: string): Entry | null => {
    const entry = entries.get(key)
    if (!entry) return null
    if (entry.expiresAt > now()) return entry
    entries.delete(key)
    return null
  }
  const set = (key: string, value: string, ttlSeconds: number) => {
    sweep()
    entries.set(key, { value, expiresAt: now() + ttlSeconds * 1000 })
  }
  /** Deletes expired keys that are never read again; most counters are of that kind. */
  const sweep = () => {
    if (now() < sweepAt) return
    sweepAt = now() + sweepMs
    for (const [key, entry] of entries) if (entry.expiresAt <= now()) entries.delete(key)
  }

  return {
    kind: 'memory',
    async count(key, windowSeconds) {
      const entry = live(key)
      const count = entry ? Number(entry.value) + 1 : 1
      if (entry) entry.value = String(count)
      else set(key, '1', windowSeconds)
      const endsAt = entry?.expiresAt ?? now() + windowSeconds * 1000
      return { count, resetsInSeconds: Math.max(1, Math.ceil((endsAt - now()) / 1000)) }
    },
    async peek(key) {
      return Number(live(key)?.value ?? 0)
    },
    async put(key, value, ttlSeconds) {
      set(key, value, ttlSeconds)
    },
    async putIfAbsent(key, value, ttlSeconds) {
      if (live(key)) return false
      set(key, value, ttlSeconds)
      return true
    },
    async get(key) {
      return live(key)?.value ?? null
    },
    async take(key) {
      const entry = live(key)
      entries.delete(key)
      return entry?.value ?? null
    },
    async remove(key) {
      entries.delete(key)
    },
    async publish(topic, message) {
      // Asynchronous, so that the publisher neither waits for listeners nor gets their errors.
      for (const listener of topics.get(topic) ?? []) queueMicrotask(() => listener(message))
    },
    async subscribe(topic, listener) {
      // A separate function, so that the same listener can subscribe twice.
      const deliver: Listener = (message) => {
        if (!topics.get(topic)?.has(deliver)) return
        try {
          listener(message)
        } catch (error) {
          log.warn({ err: error }, 'a listener of a topic failed')
        }
      }
      const listeners = topics.get(topic) ?? new Set()
      topics.set(topic, listeners.add(deliver))
      return {
        async close() {
          listeners.delete(deliver)
          if (listeners.size === 0 && topics.get(topic) === listeners) topics.delete(topic)
        },
      }
    },
    async ping() {},
    async close() {
      entries.clear()
      topics.clear()
    },
  }
}

const sweepMs = 60_000
