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
 * What a sign-in answers instead of a session. The token is good for the `login` routes of the second
 * factor and for nothing else: 5 minutes, 5 tries.
 */
export const SecondFactorChallenge = z
  .object({
    mfa_required: z.literal(true),
    mfa_enrolled: z.boolean(),
    /** Go on with `login/enroll/start`; otherwise with `login/verify`. */
    enrollment_required: z.boolean(),
    challenge_token: z.string(),
  })
  .meta({ id: 'SecondFactorChallenge' })
export type SecondFactorChallenge = z.output<typeof SecondFactorChallenge>

const ChallengeToken = z.string().min(1).max(200)
/** Six digits of the authenticator app, or a recovery code; blanks and hyphens are left out. */
export const FactorCode = z.string().min(1).max(64)

const Enrolment = { secret: z.string(), otpauth_uri: z.string(), qr_svg: z.string() }
const RecoveryCodes = z.object({ recovery_codes: z.array(z.string()) })
const SignedIn = { access_token: z.string(), token_type: z.literal('bearer'), user: User }

export const verifyFactorLogin = endpoint({
  id: 'verifyFactorLogin',
  method: 'POST',
  path: `${base}/login/verify`,
  summary: 'Finish a sign-in with a code of the second factor',
  description: 'Takes a code of the authenticator app or a recovery code; each works once.',
  tag,
  access: { who: 'none' },
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
  summary: 'Set up the second factor that this sign-in needs',
  description: 'For accounts without one. Starting again makes a new secret and voids the one before.',
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
  summary: 'Prove the new second factor and finish the sign-in',
  description: 'The recovery codes are shown once.',
  tag,
  access: { who: 'none' },
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
  summary: 'Whether the own account has a second factor and must have one',
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
  summary: 'Begin to set up the own second factor',
  description: 'Nothing changes before it is confirmed. Starting again voids the secret before.',
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
  summary: 'Prove the new second factor',
  description: 'From the next sign-in on it is asked for. The recovery codes are shown once.',
  tag,
  access: human,
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
  summary: 'Ten new recovery codes; the ones before become void',
  tag,
  access: human,
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
  summary: 'Give up the own second factor',
  description: 'Refused while the policy requires one of the role of the account.',
  tag,
  access: human,
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
  summary: 'The roles that must have a second factor',
  tag,
  access: { who: 'admin' },
  returns: FactorPolicy,
})

export const putFactorPolicy = endpoint({
  id: 'putFactorPolicy',
  method: 'PUT',
  path: `${base}/policy`,
  summary: 'Require a second factor of roles',
  description:
    'Applies at the next sign-in, also of people who have none yet: they set it up while they sign in. Sessions and keys go on.',
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
  description: 'For somebody who has lost the device and the recovery codes. A policy asks for a new one.',
  tag,
  access: { who: 'admin', gate: 'human' },
  params: z.object({ username: z.string() }),
  returns: z.object({ success: z.literal(true) }),
  fails: ['human_only', 'not_found'],
  audit: audit('reset_second_factor'),
})
