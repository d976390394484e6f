import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { SecondFactorChallenge } from './second-factor.ts'
import { EmailAddress, User } from './users.ts'

const tag = 'Signing in'
const smallBody = 16 * 1024

/** Codes by mail: so many digits, valid for so long. */
export const emailCode = { digits: 6, validSeconds: 600 } as const

export const RequestEmailCode = z.object({ email: EmailAddress })
/** Blanks and hyphens in a code are left out; whatever else it is, it is wrong rather than invalid. */
export const VerifyEmailCode = z.object({ email: EmailAddress, code: z.string().min(1).max(64) })

export const requestEmailCode = endpoint({
  id: 'requestEmailCode',
  method: 'POST',
  path: '/api/auth/email/request',
  summary: 'Ask for a sign-in code by mail',
  description:
    'The answer is the same whether the address may sign in, is unknown, or has asked too often. A code has 6 digits and is valid for 10 minutes; a newer one voids it.',
  tag,
  access: { who: 'none' },
  body: RequestEmailCode,
  bodyLimit: smallBody,
  returns: z.object({ success: z.literal(true), message: z.string() }),
  fails: ['email_login_disabled', 'rate_limited'],
  audit: { type: 'authentication', action: 'request_email_code' },
})

export const verifyEmailCode = endpoint({
  id: 'verifyEmailCode',
  method: 'POST',
  path: '/api/auth/email/verify',
  summary: 'Sign in with a code from a mail',
  description:
    'The first sign-in makes the account. Where a second factor is needed the reply has no `access_token` but a `challenge_token`. A wrong, used or expired code and an address that may not sign in have one answer.',
  tag,
  access: { who: 'none' },
  body: VerifyEmailCode,
  bodyLimit: smallBody,
  returns: z.union([
    z.object({ access_token: z.string(), token_type: z.literal('bearer'), user: User }),
    SecondFactorChallenge,
  ]),
  fails: ['invalid_code', 'email_login_disabled', 'account_suspended', 'rate_limited', 'too_many_attempts'],
  audit: { type: 'authentication', action: 'sign_in' },
})

export const requestAccess = endpoint({
  id: 'requestAccess',
  method: 'POST',
  path: '/api/access/request',
  summary: 'Put the own address on the list of those who may sign in',
  description: 'Refused until an admin switches on `public_access_requests_enabled`.',
  tag,
  access: { who: 'none' },
  body: RequestEmailCode,
  bodyLimit: smallBody,
  returns: z.object({ success: z.literal(true), message: z.string(), already_registered: z.boolean() }),
  fails: ['access_requests_disabled', 'rate_limited'],
  audit: { type: 'authorization', action: 'request_access' },
})
