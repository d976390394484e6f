import { setTimeout as pause } from 'node:timers/promises'
import type { Loose } from '../../checks/acceptance/platform.ts'
import type { World } from './world.ts'

/** An agent that is down for longer counts as kept down by the platform. */
const downMs = 30_000
const checkEveryMs = 1_000

export type Operator = { starts(): number; [Symbol.asyncDispose](): Promise<void> }

/** Plays the person who restarts agents after a restart loop: the platform stops them after five exits in ten minutes. */
export function startOperator({ platform, agents }: World): Operator {
  const closing = new AbortController()
  const downSince = new Map<string, number>()
  let starts = 0

  async function check(): Promise<void> {
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
  async function checkRepeatedly(): Promise<void> {
    while (!closing.signal.aborted) {
      await check()
      await pause(checkEveryMs, undefined, { signal: closing.signal }).catch(() => {})
    }
  }
  const checking = checkRepeatedly()

  return {
    starts: () => starts,
    async [Symbol.asyncDispose]() {
      closing.abort()
      await checking
    },
  }
}
