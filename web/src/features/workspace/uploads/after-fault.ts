import { ApiError } from '@roost/contracts/client'
import { isPassing } from '../../../lib/recovery.ts'

/** Retries of one part before the transfer fails. */
export const maxRetries = 10
/** Times that a file starts again because the agent lost its beginning. */
export const maxRestarts = 3

/** The file on this computer was changed, moved or deleted after it was chosen. */
export class UnreadableFile extends Error {
  constructor(cause: unknown) {
    super('The file could not be read. If it was changed or moved, choose it again.', { cause })
    this.name = 'UnreadableFile'
  }
}

const passingStatuses = [408, 429, 503, 504]

/** `retry`: the same part again, after a pause. `restart`: the file from its beginning. */
export function stepAfter(
  error: unknown,
  { retries, restarts }: { retries: number; restarts: number },
): 'retry' | 'restart' | 'fail' {
  if (error instanceof ApiError && error.body?.error === 'upload_expired') {
    return restarts < maxRestarts ? 'restart' : 'fail'
  }
  const isTemporary =
    isPassing(error) || (error instanceof ApiError && passingStatuses.includes(error.status))
  return isTemporary && retries < maxRetries ? 'retry' : 'fail'
}

/** One second, doubling to 30 s. */
export function pauseMs(retries: number): number {
  return Math.min(30_000, 1000 * 2 ** retries)
}
