import { setTimeout as pause } from 'node:timers/promises'
import type { Platform, Reply } from '../../checks/acceptance/platform.ts'
import type { Chance } from './random.ts'
import type { Ask } from './requests.ts'

/** The outcome of one request for its caller. */
export type SentRequest = {
  ask: Ask
  /** The platform has acknowledged the request: from now on it must not be lost. */
  acknowledged: boolean
  /** Number of attempts until a reply. */
  attempts: number
  /** An unexpected reply as text. */
  unexpected: string | null
  /** Name of the error that refused the request finally. */
  refused: string | null
  /** Replies with status 500 and above, by status and error name. */
  faults: string[]
}

/** Twenty callers that terminate one run at the same time. */
export type Race = {
  agent: string
  executionId: string
  /** The reply to each caller; null for a lost connection. */
  words: (string | null)[]
}

export type Load = {
  requests: SentRequest[]
  races: Race[]
  /** Sends no new requests; resolves when all pending ones have a reply. */
  stop(): Promise<void>
}

const callersInRace = 20
const checkEveryMs = 300
/** Time for the platform to reply to a repeated request after the last blow. */
const patienceMs = 120_000

/**
 * Keeps `inFlight` runs open, repeats every request with its key until it gets a reply, and terminates some runs in
 * every phase.
 */
export function startLoad(
  platform: Platform,
  options: { inFlight: number; nextAsk(): Ask; chance: Chance },
): Load {
  const { inFlight, nextAsk, chance } = options
  const requests: SentRequest[] = []
  const races: Race[] = []
  const underway = new Set<Promise<void>>()
  let unacknowledged = 0
  let stoppedAt: number | null = null

  function spawn(work: Promise<void>): void {
    const tracked = work.finally(() => underway.delete(tracked))
    underway.add(tracked)
  }

  async function submit(ask: Ask): Promise<void> {
    const one: SentRequest = {
      ...{ ask, acknowledged: false, attempts: 0 },
      ...{ unexpected: null, refused: null, faults: [] },
    }
    requests.push(one)
    unacknowledged += 1
    try {
      while (!one.acknowledged && one.unexpected === null && !isOutOfPatience()) {
        one.attempts += 1
        const reply = await send(platform, ask)
        const verdict = reply === null ? 'again' : judgeReply(reply)
        if (reply && reply.status >= 500) one.faults.push(`${reply.status} ${reply.json?.error ?? ''}`.trim())
        if (verdict === 'taken') {
          one.acknowledged = true
          const id = executionOf(reply)
          if (id && chance.next() < 0.12) spawn(race(ask.agent, id))
        } else if (verdict !== 'again') one.unexpected = verdict
        else if (stoppedAt !== null && reply?.json?.error === 'queue_full') {
          one.refused = 'queue_full'
          return
        } else await pause(100 + chance.next() * 300)
      }
      if (!one.acknowledged && one.unexpected === null) one.unexpected = 'never answered'
    } finally {
      unacknowledged -= 1
    }
  }

  const isOutOfPatience = () => stoppedAt !== null && Date.now() - stoppedAt > patienceMs

  async function race(agent: string, executionId: string): Promise<void> {
    await pause(chance.between(0, 4000) * chance.next())
    const path = `/api/agents/${agent}/executions/${executionId}/terminate`
    const callers = Array.from({ length: callersInRace }, () =>
      platform.request('POST', path, undefined, { signal: AbortSignal.timeout(40_000) }).then(
        ({ status, json }) => (status === 200 ? String(json.status) : null),
        () => null,
      ),
    )
    races.push({ agent, executionId, words: await Promise.all(callers) })
  }

  async function keepBusy(): Promise<void> {
    while (stoppedAt === null) {
      const open = await openRuns(platform)
      if (open !== null) {
        const room = Math.max(0, inFlight - open - unacknowledged)
        for (let count = 0; count < room && stoppedAt === null; count += 1) spawn(submit(nextAsk()))
      }
      await pause(checkEveryMs)
    }
  }
  const busy = keepBusy()

  return {
    requests,
    races,
    async stop() {
      stoppedAt = Date.now()
      await busy
      while (underway.size > 0) await Promise.all(underway)
    },
  }
}

/** Returns null for a lost connection or a timeout. */
function send(platform: Platform, { path, body, idempotencyKey }: Ask): Promise<Reply | null> {
  return platform
    .request('POST', path, body, {
      headers: { 'idempotency-key': idempotencyKey, accept: 'application/json' },
      signal: AbortSignal.timeout(30_000),
    })
    .catch(() => null)
}

/** `again`: not acknowledged yet, retry. Any text other than `taken` and `again` is an unexpected reply. */
function judgeReply({ status, headers, json, text }: Reply): 'taken' | 'again' | string {
  if (status === 200 || headers.has('x-execution-id')) return 'taken'
  const error = json?.error ?? ''
  if (error === 'request_in_progress' && (json.execution_id || json.fan_out_id)) return 'taken'
  const passing = [
    'request_in_progress',
    'queue_full',
    'agent_not_running',
    'starting_up',
    'migrations_incomplete',
    'ephemeral_unavailable',
  ]
  if (passing.includes(error)) return 'again'
  // An unavailable database is a temporary error. The report lists the other server errors.
  if (status >= 500) return 'again'
  return `${status} ${text.slice(0, 300)}`
}

function executionOf(reply: Reply | null): string | null {
  return reply?.headers.get('x-execution-id') ?? reply?.json?.execution_id ?? null
}

async function openRuns(platform: Platform): Promise<number | null> {
  const signal = AbortSignal.timeout(5_000)
  const reply = await platform.request('GET', '/api/agents/slots', undefined, { signal }).catch(() => null)
  if (reply?.status !== 200) return null
  const agents: { active: number; queued: number }[] = Object.values(reply.json.agents)
  return agents.reduce((sum, { active, queued }) => sum + active + queued, 0)
}
