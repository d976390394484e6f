/** Runs a command in the workspace and records how it ended: the check of an attempt. */

/** Characters that are kept of the output: the last ones. */
export const maxCheckOutput = 20_000
/** The agent answers after this time at the latest; the platform repeats the request. */
export const checkWaitSeconds = 15
export const maxCheckSeconds = 3600
export const maxCheckCommand = 4000

/**
 * Starts the command, or waits for it: a repeated request with the same `check_id` never starts it twice. The agent
 * keeps the outcome of the last check until its program ends.
 */
export type RunCheck = { t: 'check.run'; check_id: string; command: string; timeout_seconds: number }
/**
 * `exit_code` is null while it runs, when a signal ended it, after a timeout, and when it could not start. The output
 * has both streams.
 */
export type RunCheckAnswer = {
  state: 'running' | 'ended'
  exit_code: number | null
  timed_out: boolean
  output: string
  /** The output was longer. */
  truncated: boolean
  duration_ms: number
}
