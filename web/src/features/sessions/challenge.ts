import { ApiError } from '@roost/contracts/client'
import { SecondFactorChallenge } from '@roost/contracts/identity/second-factor'
import type { ErrorCode } from '@roost/contracts/kit/errors'

/** The challenge after a correct password; null for other errors. */
export function challengeIn(error: unknown): SecondFactorChallenge | null {
  if (!isRefusal(error, 'mfa_required')) return null
  return SecondFactorChallenge.safeParse(error.body).data ?? null
}

export function isRefusal(error: unknown, code: ErrorCode): error is ApiError {
  return error instanceof ApiError && error.body?.error === code
}
