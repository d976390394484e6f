import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Blow } from './blows.ts'
import type { Chance } from './random.ts'
import { untilReachable, type World } from './world.ts'

export type Struck = {
  name: string
  at: string
  /**
   * From the start of the repair until every agent responded. Null if the next blow came first, or if a person had to
   * restart an agent.
   */
  wholeAfterMs: number | null
  /** Memory of the API process just before the blow; null without a process. */
  apiMegabytes: number | null
}

export type Siege = { struck: Struck[]; crashes: string[] }

/** Longer than any limit, so that a slow recovery is measured as slow. */
const recoveryLimitMs = 120_000

/** Strikes `kills` blows at random times, even before the system has recovered from the previous one. */
export async function besiege(
  world: World,
  options: {
    blows: readonly Blow[]
    kills: number
    chance: Chance
    progress(text: string): void
    /** Number of manual starts of agents so far. */
    starts(): number
    /** Ends the siege early, after the current blow. */
    enough: AbortSignal
  },
): Promise<Siege> {
  const { blows, kills, chance, progress, starts, enough } = options
  const struck: Struck[] = []
  const crashes: string[] = []
  let healing = new AbortController()
  let healed: Promise<void> = Promise.resolve()

  for (let count = 1; count <= kills && !enough.aborted; count += 1) {
    await pause(
      chance.pick([
        [4, chance.between(50, 2000)],
        [4, chance.between(2000, 5000)],
        [1, 9000],
      ]),
    )
    healing.abort()
    await healed
    await restartWhenGone(world, crashes)
    const blow = chance.pick(blows.map((each) => [each.weight, each] as const))
    const one: Struck = {
      name: blow.name,
      at: new Date().toISOString(),
      wholeAfterMs: null,
      apiMegabytes: residentMegabytes(world.platform.apiPid()),
    }
    struck.push(one)
    let begunAt: number | null = null
    await blow.strike(() => {
      begunAt = performance.now()
    })
    const repairedFor = begunAt === null ? 0 : performance.now() - begunAt
    healing = new AbortController()
    const startsBefore = starts()
    healed = untilReachable(world.platform, world.agents, recoveryLimitMs, healing.signal).then((ms) => {
      one.wholeAfterMs = ms === null || starts() !== startsBefore ? null : ms + repairedFor
    })
    if (count % 10 === 0 || count === kills) progress(`${count} of ${kills} blows`)
  }
  // The recovery from the last blow is always measured.
  await healed
  await restartWhenGone(world, crashes)
  return { struck, crashes }
}

/** Records an API that exited without being killed, and restarts it for the rest of the siege. */
async function restartWhenGone({ platform }: World, crashes: string[]): Promise<void> {
  if (isAlive(platform.apiPid())) return
  crashes.push(platform.output().slice(-1500))
  // Clears the exited process.
  await platform.killApi()
  await platform.startApi()
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

export function residentMegabytes(pid: number): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes ? Number(kilobytes) / 1024 : null
  } catch {
    return null
  }
}
