import type { Lease, Leases } from '../foundation/leases/index.ts'
import { aborted, type Clock, waitEnded } from '../kit/clock.ts'
import type { Log } from '../ports/log.ts'
import { createStreak } from '../ports/log-streak.ts'

/** Periodic work of a feature. */
export type Loop = {
  /** Unique; also the name of the lease. */
  name: string
  everySeconds: number
  /** Pause after a run that returned `idle`. Default: `everySeconds`. */
  idleSeconds?: number
  /**
   * Does what is due. `signal` aborts at the deadline, when the lease is lost, and at the stop. A process that was
   * frozen may complete the step in progress afterwards, so each step must be harmless then. `idle`: there is no open
   * work, so the next run may come later.
   */
  run(signal: AbortSignal): Promise<void> | Promise<'idle' | 'busy'>
  /** Maximum duration of one run. Default: the greater of 30 seconds and `everySeconds`. */
  deadlineSeconds?: number
  /** Runs once in each place of this kind, under the lease `NAME@PLACE`, instead of once in the installation. */
  per?: LoopPlace
  /** Runs in every process without a lease, for state in a process's memory. */
  everywhere?: boolean
}

/** `history`: the store of workspace records, which several processes may share. */
export type LoopPlace = 'engine' | 'history'

export type Loops = {
  /** Aborts running loops, waits for them and releases the leases. */
  stop(): Promise<void>
}

type Held = {
  lease: Lease
  lost: AbortController
  /** Milliseconds since 1970 until which no other process can have the lease. */
  until: number
}

/** Together with `lookEverySeconds`: another process replaces a killed one within 15 seconds. */
const leaseSeconds = 9
const renewEverySeconds = 3
const lookEverySeconds = 5
/** After an error of the database: a short outage ends no lease. */
const retrySeconds = 1
const maxBackoffSeconds = 300

/**
 * Runs each loop in one process at a time. The others look for its lease every few seconds, however rarely it runs.
 * An error is logged, and the loop continues with a backoff.
 */
export function startLoops(deps: {
  loops: Loop[]
  leases: Leases
  clock: Clock
  log: Log
  /** Id of this process among the replicas. */
  holder: string
  /** Identity of each place. Rejects while it is unknown; its loops then fail and are retried. */
  places: Record<LoopPlace, () => Promise<string>>
  /** Returns 0 to 1; spreads loops that would otherwise run together. */
  random?: () => number
}): Loops {
  const { loops, leases, clock, log, holder, places, random = Math.random } = deps
  const held = new Map<string, Held>()
  /** Ends the pause of a loop, by its name: its lease was taken over, or the process stops. */
  const wakers = new Map<string, AbortController>()
  /** By the name of the loop. */
  const leaseNames = new Map<string, string>()
  const requests = new Map<string, Promise<AbortSignal | null>>()
  /** Leases that other processes held when last read. Loops do not request them: `takeOver` does. */
  let elsewhere: ReadonlySet<string> = new Set()
  let renewedAt = clock.now().getTime()
  /** Ends the pause of `keepLeases`. */
  let pausing = new AbortController()
  const stopping = new AbortController()
  refuseDuplicates(loops)

  const running = Promise.all([keepLeases(), ...loops.map(keepRunning)])
  return {
    async stop() {
      stopping.abort()
      pausing.abort(waitEnded)
      for (const waker of wakers.values()) waker.abort(waitEnded)
      await running
      await Promise.all([...held.values()].map(({ lease }) => leases.release(lease).catch(() => {})))
    },
  }

  async function keepRunning(loop: Loop): Promise<void> {
    let failures = 0
    await clock.wait(Math.min(loop.everySeconds, 2) * 1000 * random(), stopping.signal)
    while (!stopping.signal.aborted) {
      const outcome = await runIfLeased(loop)
      if (stopping.signal.aborted) return
      const waker = new AbortController()
      wakers.set(loop.name, waker)
      if (outcome === 'elsewhere') {
        // `takeOver` looks for free leases, so these loops need no timer.
        if (isElsewhere(loop)) await aborted(waker.signal)
        continue
      }
      failures = outcome === 'failed' ? failures + 1 : 0
      const maxSeconds = Math.max(loop.everySeconds, maxBackoffSeconds)
      const everySeconds = outcome === 'idle' ? (loop.idleSeconds ?? loop.everySeconds) : loop.everySeconds
      const seconds = Math.min(everySeconds * 2 ** Math.min(failures, 16), maxSeconds)
      await pause(seconds * (0.9 + 0.2 * random()), waker.signal)
    }
  }

  /** `elsewhere`: another process holds the lease. */
  async function runIfLeased(loop: Loop): Promise<'ran' | 'idle' | 'failed' | 'elsewhere'> {
    try {
      if (loop.everywhere) return await runOnce(loop, [stopping.signal])
      const lost = await acquire(await leaseNameOf(loop))
      return lost ? await runOnce(loop, [stopping.signal, lost]) : 'elsewhere'
    } catch (error) {
      if (stopping.signal.aborted) return 'ran'
      log.error({ loop: loop.name, err: error }, 'a background loop failed')
      return 'failed'
    }
  }

  function isElsewhere({ name }: Loop): boolean {
    const leaseName = leaseNames.get(name)
    return leaseName !== undefined && !held.has(leaseName) && elsewhere.has(leaseName)
  }

  async function runOnce(loop: Loop, signals: AbortSignal[]): Promise<'ran' | 'idle'> {
    const deadline = new AbortController()
    const ended = new AbortController()
    const seconds = loop.deadlineSeconds ?? Math.max(30, loop.everySeconds)
    void clock.wait(seconds * 1000, ended.signal).then(() => {
      if (ended.signal.aborted) return
      log.warn({ loop: loop.name, seconds }, 'a background loop exceeded its deadline')
      deadline.abort()
    })
    try {
      const result = await loop.run(AbortSignal.any([...signals, deadline.signal]))
      return result === 'idle' ? 'idle' : 'ran'
    } finally {
      ended.abort(waitEnded)
    }
  }

  async function leaseNameOf({ name, per }: Loop): Promise<string> {
    const leaseName = leaseNames.get(name) ?? (per ? `${name}@${await places[per]()}` : name)
    leaseNames.set(name, leaseName)
    return leaseName
  }

  /** Returns a signal that aborts when the lease is lost; null while another process holds it. */
  async function acquire(name: string): Promise<AbortSignal | null> {
    dropExpired()
    const own = held.get(name)
    if (own) return own.lost.signal
    if (elsewhere.has(name)) return null
    // A second request would make the token of the first one stale.
    const request = requests.get(name) ?? take(name).finally(() => requests.delete(name))
    requests.set(name, request)
    return request
  }

  async function take(name: string): Promise<AbortSignal | null> {
    const until = leaseEnd()
    const lease = await leases.take(name, holder, leaseSeconds)
    if (!lease) {
      elsewhere = new Set([...elsewhere, name])
      return null
    }
    const lost = new AbortController()
    // Renewals begin at once: after the pause, this first lease would be almost over.
    if (held.size === 0) pausing.abort(waitEnded)
    held.set(name, { lease, lost, until })
    return lost.signal
  }

  async function keepLeases(): Promise<void> {
    const streak = createStreak(log, {
      failing: 'leases could not be renewed',
      over: 'leases are renewed again',
    })
    let hasFailed = false
    while (!stopping.signal.aborted) {
      pausing = new AbortController()
      const seconds = held.size > 0 ? renewEverySeconds : lookEverySeconds
      await pause(hasFailed ? retrySeconds : seconds, pausing.signal)
      dropExpired()
      hasFailed = false
      try {
        await renewHeld()
        await takeOver()
        // The process may have been frozen while it waited for the database.
        dropExpired()
        streak.worked()
      } catch (error) {
        hasFailed = true
        streak.failed(error)
        dropExpired()
      }
    }
  }

  async function renewHeld(): Promise<void> {
    if (held.size === 0) return
    // The response does not contain leases acquired after the request.
    const requested = [...held]
    const until = leaseEnd()
    renewedAt = clock.now().getTime()
    const renewed = new Map((await leases.renewAll(holder, leaseSeconds)).map((lease) => [lease.name, lease]))
    for (const [name, own] of requested) {
      if (renewed.get(name)?.token === own.lease.token) own.until = until
      else drop(name, own)
    }
  }

  /** Starts loops whose holder ended. Otherwise a rare loop would continue only at its next run, maybe hours later. */
  async function takeOver(): Promise<void> {
    // A loop that has not begun has no name here, and takes its lease itself.
    const others = [...leaseNames].filter(([, leaseName]) => !held.has(leaseName))
    if (others.length === 0) return
    elsewhere = new Set(await leases.heldAmong(others.map(([, leaseName]) => leaseName)))
    for (const [name, leaseName] of others) {
      if (stopping.signal.aborted) return
      // With a slow database the own leases would expire meanwhile.
      if (clock.now().getTime() - renewedAt >= renewEverySeconds * 1000) await renewHeld()
      if (!elsewhere.has(leaseName) && (await acquire(leaseName))) wakers.get(name)?.abort(waitEnded)
    }
  }

  function leaseEnd(): number {
    return clock.now().getTime() + leaseSeconds * 1000
  }

  /** Other processes may hold these leases by now, for example after this one was stopped and continued. */
  function dropExpired(): void {
    const now = clock.now().getTime()
    for (const [name, own] of held) if (own.until <= now) drop(name, own)
  }

  function drop(name: string, own: Held): void {
    own.lost.abort()
    if (held.get(name) === own) held.delete(name)
  }

  function pause(seconds: number, signal: AbortSignal): Promise<void> {
    return clock.waitAbout(seconds * 1000, signal)
  }
}

function refuseDuplicates(loops: Loop[]): void {
  const duplicate = loops.find(({ name }, index) => loops.findIndex((other) => other.name === name) !== index)
  if (duplicate) throw new Error(`Two background loops are named ${duplicate.name}.`)
}
