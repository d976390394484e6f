import { ApiError } from '@roost/contracts/client'
import { SecondFactorChallenge } from '@roost/contracts/identity/second-factor'
import type { ErrorCode } from '@roost/contracts/kit/errors'

/** The second step that a right password leads to; null when it was refused for another reason. */
export function challengeIn(error: unknown): SecondFactorChallenge | null {
  if (!isRefusal(error, 'mfa_required')) return null
  return SecondFactorChallenge.safeParse(error.body).data ?? null
}

export function isRefusal(error: unknown, code: ErrorCode): error is ApiError {
  return error instanceof ApiError && error.body?.error === code
}
