import { setTimeout as pause } from 'node:timers/promises'
import type { Loose } from '../../checks/acceptance/platform.ts'
import type { World } from './world.ts'

/** The platform keeps an agent down that ended too often; it has this long to show that it does not. */
const downMs = 30_000
const lookEveryMs = 1_000

export type Caretaker = { starts(): number; [Symbol.asyncDispose](): Promise<void> }

/** The person who starts agents again that the platform keeps down: five ends in ten minutes are a loop to it. */
export function startCaretaker({ platform, agents }: World): Caretaker {
  const closing = new AbortController()
  const downSince = new Map<string, number>()
  let starts = 0

  async function look(): Promise<void> {
    const signal = AbortSignal.timeout(5_000)
    const reply = await platform.request('GET', '/api/agents', undefined, { signal }).catch(() => null)
    if (reply?.status !== 200) return
    for (const { name } of agents) {
      const status = reply.json.find((agent: Loose) => agent.name === name)?.status
      if (status === 'running') downSince.delete(name)
      else if (!downSince.has(name)) downSince.set(name, Date.now())
      if (Date.now() - (downSince.get(name) ?? Date.now()) < downMs) continue
      downSince.delete(name)
      const started = await platform.request('POST', `/api/agents/${name}/start`).catch(() => null)
      if (started?.status === 200) starts += 1
    }
  }
  async function keepLooking(): Promise<void> {
    while (!closing.signal.aborted) {
      await look()
      await pause(lookEveryMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  const looking = keepLooking()

  return {
    starts: () => starts,
    async [Symbol.asyncDispose]() {
      closing.abort()
      await looking
    },
  }
}
