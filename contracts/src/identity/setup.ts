import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { EmailAddress } from './users.ts'

const tag = 'Signing in'

export const passwordLength = { least: 12, most: 128 } as const

export const getSetupStatus = endpoint({
  id: 'getSetupStatus',
  method: 'GET',
  path: '/api/setup/status',
  summary: 'Check whether the platform has its first admin',
  tag,
  access: { who: 'none' },
  returns: z.object({ setup_completed: z.boolean(), setup_available: z.boolean() }),
})

export const setAdminPassword = endpoint({
  id: 'setAdminPassword',
  method: 'POST',
  path: '/api/setup/admin-password',
  summary: 'Create the first admin',
  description:
    'Possible once: sets the password of the account `admin`, 12 to 128 characters and not a common one. The optional e-mail address can replace the user name at sign-in.',
  tag,
  access: { who: 'none' },
  body: z.object({
    password: z.string(),
    confirm_password: z.string().nullish(),
    email: EmailAddress.nullish(),
  }),
  bodyLimit: 16 * 1024,
  returns: z.object({ success: z.literal(true), email_registered: z.boolean() }),
  fails: ['setup_completed', 'weak_password', 'password_mismatch', 'rate_limited'],
  audit: { type: 'authentication', action: 'set_admin_password' },
})
