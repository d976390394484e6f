import { z } from 'zod'
import { roles } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'
import { User } from './users.ts'

const tag = 'Second factor'
const base = '/api/enterprise/2fa'
const human = { who: 'any', gate: 'human' } as const
const audit = (action: string) => ({ type: 'authentication', action }) as const
const smallBody = 16 * 1024

/**
 * The reply to a sign-in that needs a second factor. The token is valid only for the `login` routes of the second
 * factor, for 5 minutes and 5 attempts.
 */
export const SecondFactorChallenge = z
  .object({
    mfa_required: z.literal(true),
    mfa_enrolled: z.boolean(),
    /** Continue with `login/enroll/start`; otherwise with `login/verify`. */
    enrollment_required: z.boolean(),
    challenge_token: z.string(),
  })
  .meta({ id: 'SecondFactorChallenge' })
export type SecondFactorChallenge = z.output<typeof SecondFactorChallenge>

const ChallengeToken = z.string().min(1).max(200)
/** Six digits of the authenticator app, or a recovery code. Spaces and hyphens are ignored. */
export const FactorCode = z.string().min(1).max(64)

const Enrolment = { secret: z.string(), otpauth_uri: z.string(), qr_svg: z.string() }
const RecoveryCodes = z.object({ recovery_codes: z.array(z.string()) })
const SignedIn = { access_token: z.string(), token_type: z.literal('bearer'), user: User }

export const verifyFactorLogin = endpoint({
  id: 'verifyFactorLogin',
  method: 'POST',
  path: `${base}/login/verify`,
  summary: 'Finish a sign-in with a code of the second factor',
  description: 'Accepts a code of the authenticator app or a recovery code; each is valid once.',
  tag,
  access: { who: 'none' },
  headers: ['Cookie'],
  replyHeaders: ['Set-Cookie'],
  body: z.object({ challenge_token: ChallengeToken, code: FactorCode }),
  bodyLimit: smallBody,
  returns: z.object({ ...SignedIn, recovery_codes_left: z.number().int() }),
  fails: ['invalid_code', 'challenge_expired', 'account_suspended', 'too_many_attempts'],
  audit: audit('sign_in'),
})

export const startFactorLoginEnrolment = endpoint({
  id: 'startFactorLoginEnrolment',
  method: 'POST',
  path: `${base}/login/enroll/start`,
  summary: 'Set up the second factor that this sign-in requires',
  description:
    'For accounts without one. A second call creates a new secret and invalidates the previous one.',
  tag,
  access: { who: 'none' },
  body: z.object({ challenge_token: ChallengeToken }),
  bodyLimit: smallBody,
  returns: z.object({ ...Enrolment, challenge_token: z.string() }),
  fails: ['challenge_expired', 'account_suspended', 'conflict'],
  audit: audit('start_second_factor'),
})

export const confirmFactorLoginEnrolment = endpoint({
  id: 'confirmFactorLoginEnrolment',
  method: 'POST',
  path: `${base}/login/enroll/confirm`,
  summary: 'Confirm the new second factor and finish the sign-in',
  description: 'The recovery codes are shown once.',
  tag,
  access: { who: 'none' },
  headers: ['Cookie'],
  replyHeaders: ['Set-Cookie'],
  body: z.object({ challenge_token: ChallengeToken, code: FactorCode }),
  bodyLimit: smallBody,
  returns: z.object({ ...SignedIn, recovery_codes: z.array(z.string()) }),
  fails: ['invalid_code', 'challenge_expired', 'account_suspended', 'conflict', 'too_many_attempts'],
  audit: audit('confirm_second_factor'),
})

export const getFactorStatus = endpoint({
  id: 'getFactorStatus',
  method: 'GET',
  path: `${base}/status`,
  summary: 'Get the second-factor status of your account',
  tag,
  access: human,
  returns: z.object({
    enrolled: z.boolean(),
    required: z.boolean(),
    recovery_codes_left: z.number().int(),
    enrolled_at: Timestamp.nullable(),
  }),
})

export const startFactorEnrolment = endpoint({
  id: 'startFactorEnrolment',
  method: 'POST',
  path: `${base}/enroll/start`,
  summary: 'Start to set up your second factor',
  description: 'It takes effect when confirmed. A second call invalidates the previous secret.',
  tag,
  access: human,
  returns: z.object(Enrolment),
  fails: ['human_only', 'conflict'],
  audit: audit('start_second_factor'),
})

export const confirmFactorEnrolment = endpoint({
  id: 'confirmFactorEnrolment',
  method: 'POST',
  path: `${base}/enroll/confirm`,
  summary: 'Confirm the new second factor',
  description: 'Sign-ins require it from now on. The recovery codes are shown once.',
  tag,
  access: human,
  headers: ['Cookie'],
  body: z.object({ code: FactorCode }),
  bodyLimit: smallBody,
  returns: RecoveryCodes,
  fails: ['human_only', 'invalid_code', 'conflict', 'too_many_attempts'],
  audit: audit('confirm_second_factor'),
})

export const renewRecoveryCodes = endpoint({
  id: 'renewRecoveryCodes',
  method: 'POST',
  path: `${base}/recovery-codes`,
  summary: 'Create ten new recovery codes; the previous ones become invalid',
  tag,
  access: human,
  headers: ['Cookie'],
  body: z.object({ code: FactorCode }),
  bodyLimit: smallBody,
  returns: RecoveryCodes,
  fails: ['human_only', 'invalid_code', 'conflict', 'too_many_attempts'],
  audit: { type: 'credentials', action: 'renew_recovery_codes' },
})

export const disableFactor = endpoint({
  id: 'disableFactor',
  method: 'POST',
  path: `${base}/disable`,
  summary: 'Disable your second factor',
  description: 'Rejected while the policy requires a second factor for the role of the account.',
  tag,
  access: human,
  headers: ['Cookie'],
  body: z.object({ code: FactorCode }),
  bodyLimit: smallBody,
  returns: z.object({ success: z.literal(true) }),
  fails: ['human_only', 'role_required', 'invalid_code', 'conflict', 'too_many_attempts'],
  audit: audit('disable_second_factor'),
})

export const FactorPolicy = z.object({ required_roles: z.array(z.enum(roles)) })

export const getFactorPolicy = endpoint({
  id: 'getFactorPolicy',
  method: 'GET',
  path: `${base}/policy`,
  summary: 'Get the roles that must have a second factor',
  tag,
  access: { who: 'admin' },
  returns: FactorPolicy,
})

export const putFactorPolicy = endpoint({
  id: 'putFactorPolicy',
  method: 'PUT',
  path: `${base}/policy`,
  summary: 'Set the roles that must have a second factor',
  description:
    'Applies from the next sign-in on: people without a second factor set one up while they sign in. Sessions and keys stay valid.',
  tag,
  access: { who: 'admin', gate: 'human' },
  body: FactorPolicy,
  returns: FactorPolicy,
  fails: ['human_only'],
  audit: { type: 'configuration', action: 'put_second_factor_policy' },
})

export const resetFactor = endpoint({
  id: 'resetFactor',
  method: 'DELETE',
  path: `${base}/users/{username}`,
  summary: "Remove a person's second factor",
  description:
    'For a person who has lost the device and the recovery codes. If the policy requires one, they set up a new one.',
  tag,
  access: { who: 'admin', gate: 'human' },
  params: z.object({ username: z.string() }),
  returns: z.object({ success: z.literal(true) }),
  fails: ['human_only', 'not_found'],
  audit: audit('reset_second_factor'),
})
