import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Blow } from './blows.ts'
import type { Chance } from './random.ts'
import { untilReachable, type World } from './world.ts'

export type Struck = {
  name: string
  at: string
  /**
   * From the beginning of the repair until every agent answered; null when the next blow came first, or when that
   * waited for a person to start an agent that had ended too often.
   */
  wholeAfterMs: number | null
  /** Of the API's process just before it; null while there was none. */
  apiMegabytes: number | null
}

export type Siege = { struck: Struck[]; crashes: string[] }

/** Longer than any limit, so that a slow recovery is seen as slow and not as none. */
const recoveryLimitMs = 120_000

/** Deals `kills` blows at random moments, also while the one before is not healed. */
export async function besiege(
  world: World,
  options: {
    blows: readonly Blow[]
    kills: number
    chance: Chance
    progress(text: string): void
    /** How often an agent was started by hand until now. */
    starts(): number
    /** Ends it early, and in order. */
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
  // The last one is always measured to its end.
  await healed
  await restartWhenGone(world, crashes)
  return { struck, crashes }
}

/** An API that ended without being killed is a finding, and the rest of the siege needs one. */
async function restartWhenGone({ platform }: World, crashes: string[]): Promise<void> {
  if (isAlive(platform.apiPid())) return
  crashes.push(platform.output().slice(-1500))
  // Takes the ended process off the platform's hands.
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
