import { z } from 'zod'
import { roles } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Id, Timestamp } from '../kit/primitives.ts'

const tag = 'Account'

/** E-mail addresses are compared and stored in lower case. */
export const EmailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email('must be an e-mail address'))

/** An account as its owner sees it. */
export const User = z.object({
  id: Id,
  username: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  picture: z.string().nullable(),
  role: z.enum(roles),
  mfa_enrolled: z.boolean(),
  created_at: Timestamp,
  last_login_at: Timestamp.nullable(),
})
export type User = z.output<typeof User>

export const getMe = endpoint({
  id: 'getMe',
  method: 'GET',
  path: '/api/users/me',
  summary: 'Get the account of the caller',
  tag,
  access: { who: 'any' },
  returns: User.extend({
    demo: z
      .literal(true)
      .optional()
      .describe('Present only if true: answers are scripted, because the platform runs with `--demo`.'),
  }),
})

export const setMyEmail = endpoint({
  id: 'setMyEmail',
  method: 'PUT',
  path: '/api/users/me/email',
  summary: 'Set your e-mail address',
  description:
    'For admin accounts, which may sign in with this address instead of the user name. The address of other accounts is fixed.',
  tag,
  access: { who: 'any', gate: 'human' },
  body: z.object({ email: EmailAddress }),
  returns: z.object({ success: z.literal(true), email: z.string() }),
  fails: ['human_only', 'admin_required', 'already_exists'],
  audit: { type: 'authentication', action: 'set_email' },
})

export const setMyPassword = endpoint({
  id: 'setMyPassword',
  method: 'PUT',
  path: '/api/users/me/password',
  summary: 'Change your password',
  description:
    'For admin accounts that sign in with a password. The new one has 12 to 128 characters and is not a common one. Ends all sessions of the account except the current one.',
  tag,
  access: { who: 'any', gate: 'human' },
  headers: ['Cookie'],
  body: z.object({ current_password: z.string(), new_password: z.string() }),
  bodyLimit: 16 * 1024,
  returns: z.object({ success: z.literal(true) }),
  fails: [
    'human_only',
    'admin_required',
    'conflict',
    'weak_password',
    'invalid_credentials',
    'too_many_attempts',
  ],
  audit: { type: 'authentication', action: 'change_password' },
})
