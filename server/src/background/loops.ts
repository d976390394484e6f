import type { Lease, Leases } from '../foundation/leases/index.ts'
import type { Clock } from '../kit/clock.ts'
import { newId } from '../kit/ids.ts'
import type { Log } from '../ports/log.ts'
import { createStreak } from '../ports/log-streak.ts'

/** Something a feature does again and again. */
export type Loop = {
  /** Unique; names the lease. */
  name: string
  everySeconds: number
  /** Looks and does what is due. `signal` aborts at the deadline, when the lease is lost, and at the end. */
  run(signal: AbortSignal): Promise<void>
  /** The time one run may take; 30 seconds, or `everySeconds` when that is more. */
  deadlineSeconds?: number
  /** Runs in every process, without a lease: for what a process keeps in its memory. */
  everywhere?: boolean
}

export type Loops = {
  /** Aborts what runs, waits for it and gives the leases back. */
  stop(): Promise<void>
}

/** A process that dies is followed by another one after at most this time. */
const leaseSeconds = 15
const longestBackoffSeconds = 300

/** Runs each loop in one process at a time. An error is logged and the loop goes on, less often at first. */
export function startLoops(deps: {
  loops: Loop[]
  leases: Leases
  clock: Clock
  log: Log
  /** From 0 to 1; spreads what would otherwise happen at once. */
  random?: () => number
}): Loops {
  const { loops, leases, clock, log, random = Math.random } = deps
  const holder = newId()
  const held = new Map<string, { lease: Lease; lost: AbortController }>()
  const stopping = new AbortController()
  refuseTwins(loops)

  const running = Promise.all([keepLeases(), ...loops.map(keepRunning)])
  return {
    async stop() {
      stopping.abort()
      await running
      await Promise.all([...held.values()].map(({ lease }) => leases.release(lease).catch(() => {})))
    },
  }

  async function keepRunning(loop: Loop): Promise<void> {
    let failures = 0
    await pause(Math.min(loop.everySeconds, 2) * random())
    while (!stopping.signal.aborted) {
      failures = (await turn(loop)) ? 0 : failures + 1
      const longest = Math.max(loop.everySeconds, longestBackoffSeconds)
      const seconds = Math.min(loop.everySeconds * 2 ** Math.min(failures, 16), longest)
      await pause(seconds * (0.9 + 0.2 * random()))
    }
  }

  /** False when the run failed. */
  async function turn(loop: Loop): Promise<boolean> {
    try {
      if (loop.everywhere) await runOnce(loop, [stopping.signal])
      else {
        const lost = await hold(loop.name)
        if (lost) await runOnce(loop, [stopping.signal, lost])
      }
      return true
    } catch (error) {
      if (stopping.signal.aborted) return true
      log.error({ loop: loop.name, err: error }, 'a background loop failed')
      return false
    }
  }

  async function runOnce(loop: Loop, signals: AbortSignal[]): Promise<void> {
    const deadline = new AbortController()
    const ended = new AbortController()
    const seconds = loop.deadlineSeconds ?? Math.max(30, loop.everySeconds)
    void clock.wait(seconds * 1000, ended.signal).then(() => {
      if (ended.signal.aborted) return
      log.warn({ loop: loop.name, seconds }, 'a background loop takes longer than it may')
      deadline.abort()
    })
    try {
      await loop.run(AbortSignal.any([...signals, deadline.signal]))
    } finally {
      ended.abort()
    }
  }

  /** What aborts when the lease is lost; null while another process has it. */
  async function hold(name: string): Promise<AbortSignal | null> {
    const mine = held.get(name)
    if (mine) return mine.lost.signal
    const lease = await leases.take(name, holder, leaseSeconds)
    if (!lease) return null
    const lost = new AbortController()
    held.set(name, { lease, lost })
    return lost.signal
  }

  async function keepLeases(): Promise<void> {
    let renewedAt = clock.now().getTime()
    const streak = createStreak(log, {
      failing: 'leases could not be renewed',
      over: 'leases are renewed again',
    })
    while (!stopping.signal.aborted) {
      await pause(leaseSeconds / 3)
      if (held.size === 0) {
        renewedAt = clock.now().getTime()
        continue
      }
      // What is taken while the answer is on its way is not in it.
      const asked = [...held]
      try {
        const kept = new Map(
          (await leases.renewAll(holder, leaseSeconds)).map((lease) => [lease.name, lease]),
        )
        renewedAt = clock.now().getTime()
        streak.worked()
        for (const [name, { lease }] of asked) if (kept.get(name)?.token !== lease.token) drop(name)
      } catch (error) {
        streak.failed(error)
        // By now others may have taken them.
        if (clock.now().getTime() - renewedAt >= leaseSeconds * 1000)
          for (const name of held.keys()) drop(name)
      }
    }
  }

  function drop(name: string): void {
    held.get(name)?.lost.abort()
    held.delete(name)
  }

  function pause(seconds: number): Promise<void> {
    return clock.wait(seconds * 1000, stopping.signal)
  }
}

function refuseTwins(loops: Loop[]): void {
  const twin = loops.find(({ name }, index) => loops.findIndex((other) => other.name === name) !== index)
  if (twin) throw new Error(`Two background loops are named ${twin.name}.`)
}
