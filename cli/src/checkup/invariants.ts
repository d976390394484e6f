import { ApiError, createClient } from '@roost/contracts/client'
import {
  getInternalInvariants,
  type InvariantRule,
  type InvariantsReport,
  invariantRules,
} from '@roost/contracts/operations/invariants'
import { type Finding, fail, ok } from './finding.ts'
import { adviceForSilent, type Seen } from './seen.ts'

/** The platform looks a second time when it finds something. */
const timeoutMs = 60_000

export type InvariantsCheck = { read: string; findings: Finding[] }

/** Asks the platform that runs on this machine whether its records of runs hold together. */
export async function checkInvariants(env: NodeJS.ProcessEnv, seen: Seen): Promise<InvariantsCheck> {
  const url = `http://127.0.0.1:${env.ROOST_INTERNAL_PORT ?? 8001}`
  const why = notAsked(seen)
  if (why) return { read: nothing, findings: [why] }
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const report = await createClient(url).call(getInternalInvariants, { signal })
    return { read: wordsOf(report), findings: findingsOf(report) }
  } catch (error) {
    return { read: nothing, findings: [unanswered(url, error)] }
  }
}

const nothing = 'Nothing was read.'

/** Null for one to ask; one that `roost up` did not start may be there all the same. */
function notAsked(seen: Seen): Finding | null {
  const about = 'platform'
  if (seen.state === 'starting') {
    return fail(about, `is starting (process ${seen.running.pid})`, 'ask again in a moment')
  }
  if (seen.state !== 'silent') return null
  const words = `runs (process ${seen.running.pid}) but does not answer at ${seen.url}: ${seen.why}`
  return fail(about, words, adviceForSilent(seen.apiPid))
}

export function wordsOf({ read, checked_at }: InvariantsReport): string {
  const { executions, queued, running, terminal, events, schedules } = read
  const runs = `${executions} runs (${queued} queued, ${running} running, ${terminal} ended)`
  return `Read at ${checked_at}: ${runs}, ${events} events, ${schedules} schedules.`
}

export function findingsOf({ violations }: InvariantsReport): Finding[] {
  return invariantRules.map((rule) => {
    const { about, holds } = rules[rule]
    const broken = violations.filter((violation) => violation.rule === rule)
    if (broken.length === 0) return ok(about, holds)
    const lines = broken.map(({ subject, message }) => `${subject}: ${message}`)
    return fail(
      about,
      lines.join('\n'),
      'a fault of Roost: keep logs/api.log of the data folder and report it',
    )
  })
}

const rules: Record<InvariantRule, { about: string; holds: string }> = {
  slots_equal_running_rows: { about: 'slots', holds: 'no agent works on more runs than it has slots' },
  no_queued_beside_free_slot: {
    about: 'queues',
    holds: 'no run waits beside a free slot of an agent in reach',
  },
  no_running_without_lease: { about: 'leases', holds: 'every run that is worked on has its lease' },
  no_event_without_row: { about: 'events', holds: 'every event about a run has its record' },
  fan_outs_follow_their_runs: { about: 'fan-outs', holds: 'every fan-out ends with the last of its runs' },
  terminal_rows_unchanged: { about: 'ends', holds: 'every end was told once, and the record still says so' },
}

function unanswered(url: string, error: unknown): Finding {
  const about = 'platform'
  if (error instanceof ApiError) {
    return fail(about, `at ${url} it answers ${error.message}`, 'look at logs/api.log in the data folder')
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const why = cause instanceof Error ? cause.message : String(cause)
  return fail(
    about,
    `does not answer at ${url}: ${why}`,
    './roost up starts it; ROOST_INTERNAL_PORT says where it listens',
  )
}
