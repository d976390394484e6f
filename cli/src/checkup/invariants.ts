import { ApiError } from '@roost/contracts/client'
import {
  getInternalInvariants,
  type InvariantRule,
  type InvariantsReport,
  invariantRules,
} from '@roost/contracts/operations/invariants'
import { seeLog } from './container.ts'
import { type Finding, fail, ok } from './finding.ts'
import { internalUrlOf, openInternalClient, UnreadableKey } from './internal.ts'
import { type PlatformState, unresponsiveFinding } from './platform-state.ts'

/** The platform reads a second time when it finds a violation. */
const timeoutMs = 60_000

export type InvariantsCheck = { summary: string; findings: Finding[] }

/** Asks the platform on this machine whether its run records are consistent. */
export async function checkInvariants(
  env: NodeJS.ProcessEnv,
  platform: PlatformState,
): Promise<InvariantsCheck> {
  const unavailable = unavailableFinding(platform)
  if (unavailable) return { summary: nothing, findings: [unavailable] }
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const report = await (await openInternalClient(env)).call(getInternalInvariants, { signal })
    return { summary: summaryOf(report), findings: findingsOf(report) }
  } catch (error) {
    return { summary: nothing, findings: [failedRequest(internalUrlOf(env), error)] }
  }
}

const nothing = 'Nothing was read.'

/** Returns null for a platform to ask, including one that `roost up` did not start. */
function unavailableFinding(platform: PlatformState): Finding | null {
  if (platform.state === 'starting') {
    return fail('platform', `starting (process ${platform.running.pid})`, 'try again in a moment')
  }
  return platform.state === 'unresponsive' ? unresponsiveFinding(platform) : null
}

export function summaryOf({ read, checked_at }: InvariantsReport): string {
  const { executions, queued, running, terminal, events, schedules } = read
  const runs = `${executions} runs (${queued} queued, ${running} running, ${terminal} ended)`
  return `Read at ${checked_at}: ${runs}, ${events} events, ${schedules} schedules.`
}

export function findingsOf({ violations }: InvariantsReport): Finding[] {
  return invariantRules.map((rule) => {
    const { about, satisfied } = rules[rule]
    const broken = violations.filter((violation) => violation.rule === rule)
    if (broken.length === 0) return ok(about, satisfied)
    const lines = broken.map(({ subject, message }) => `${subject}: ${message}`)
    return fail(
      about,
      lines.join('\n'),
      'this is a bug in Roost: keep logs/api.log of the data folder and report it',
    )
  })
}

const rules: Record<InvariantRule, { about: string; satisfied: string }> = {
  slots_equal_running_rows: { about: 'slots', satisfied: 'no agent runs more than it has slots for' },
  no_queued_beside_free_slot: {
    about: 'queues',
    satisfied: 'no run waits while a connected agent has a free slot',
  },
  no_running_without_lease: { about: 'leases', satisfied: 'every running run has a lease' },
  no_event_without_row: { about: 'events', satisfied: 'every event of a run has its run record' },
  fan_outs_follow_their_runs: { about: 'fan-outs', satisfied: 'every fan-out ends with its last run' },
  terminal_rows_unchanged: {
    about: 'ends',
    satisfied: 'every run ended once, and its record is unchanged since',
  },
}

function failedRequest(url: string, error: unknown): Finding {
  const about = 'platform'
  if (error instanceof UnreadableKey) {
    return fail(about, error.message, 'name the installation with --data-dir, or set ROOST_INTERNAL_SECRET')
  }
  if (error instanceof ApiError) {
    return fail(about, `at ${url} answered: ${error.message}`, seeLog())
  }
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const reason = cause instanceof Error ? cause.message : String(cause)
  return fail(
    about,
    `does not answer at ${url}: ${reason}`,
    'run ./roost up to start it; ROOST_INTERNAL_PORT sets its port',
  )
}
