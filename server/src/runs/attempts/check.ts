import type { Clock } from '../../kit/clock.ts'
import { maskEnd, maskText } from '../../kit/mask-secrets.ts'
import { type AgentLink, LinkFault } from '../../ports/agent-link/port.ts'
import type { AttemptRow, SetRow } from './store.ts'
import type { CheckResult } from './tables.ts'

export type CheckDeps = {
  clock: Pick<Clock, 'now' | 'wait'>
  link: Pick<AgentLink, 'call'>
  /** Values to mask in the output of checks. */
  secretsOf(agentId: string): Promise<readonly string[]>
}

/** Added to the limit of a check, for a link that is down. */
const patienceMs = 2 * 60_000
const pauseMs = 1000

/**
 * Runs the check of an attempt, or continues to wait for it. Null: `isWorking` says that the attempt has ended meanwhile.
 * Throws what `signal` aborts with, and faults of the link until the limit of the check has passed.
 */
export async function checkAttempt(
  { clock, link, secretsOf }: CheckDeps,
  set: SetRow,
  attempt: AttemptRow,
  { isWorking, signal }: { isWorking(): Promise<boolean>; signal: AbortSignal },
): Promise<CheckResult | null> {
  const seconds = set.check_seconds ?? 0
  const isLate = () => clock.now().getTime() - Date.parse(attempt.updated_at) > seconds * 1000 + patienceMs
  let result: CheckResult | null = null
  try {
    while (result === null) {
      signal.throwIfAborted()
      const { state, ...answer } = await link.call(
        attempt.agent_id ?? '',
        'check.run',
        {
          check_id: `${set.id}-${attempt.number}`,
          command: set.check_command ?? '',
          timeout_seconds: seconds,
        },
        { signal },
      )
      if (state === 'ended') result = answer
      else if (isLate()) result = { ...answer, exit_code: null, timed_out: true }
      else if (!(await isWorking())) return null
      // A hostile program does not wait before it answers.
      else await clock.wait(pauseMs, signal)
    }
  } catch (error) {
    if (signal.aborted) throw error
    const isFinal = error instanceof LinkFault
    if (!isFinal && !isLate()) throw error
    const output = isFinal ? 'The check could not be started.' : 'The agent did not answer.'
    result = { exit_code: null, timed_out: !isFinal, output, truncated: false, duration_ms: 0 }
  }
  const mask = result.truncated ? maskEnd : maskText
  return { ...result, output: mask(result.output, await secretsOf(attempt.agent_id ?? '')) }
}
