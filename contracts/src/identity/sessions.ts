import { z } from 'zod'
import { keyScopes } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'
import { User } from './users.ts'

const tag = 'Signing in'

export const getAuthMode = endpoint({
  id: 'getAuthMode',
  method: 'GET',
  path: '/api/auth/mode',
  summary: 'Get the available sign-in methods',
  tag,
  access: { who: 'none' },
  returns: z.object({
    email_auth_enabled: z.boolean(),
    setup_completed: z.boolean(),
    public_access_requests_enabled: z.boolean(),
  }),
})

export const createToken = endpoint({
  id: 'createToken',
  method: 'POST',
  path: '/api/token',
  summary: 'Sign in with a password',
  description:
    'Accepts a form (`application/x-www-form-urlencoded`), not JSON. `username` is `admin` or the e-mail address registered for an admin. The token is valid for 7 days, or until the platform restarts.',
  tag,
  access: { who: 'none' },
  headers: ['Cookie'],
  replyHeaders: ['Set-Cookie'],
  bodyKind: 'form',
  body: z.object({ username: z.string(), password: z.string() }),
  bodyLimit: 16 * 1024,
  returns: z.object({ access_token: z.string(), token_type: z.literal('bearer') }),
  fails: ['invalid_credentials', 'setup_required', 'account_suspended', 'mfa_required', 'too_many_attempts'],
  audit: { type: 'authentication', action: 'sign_in' },
})

export const validateToken = endpoint({
  id: 'validateToken',
  method: 'GET',
  path: '/api/auth/validate',
  summary: 'Validate the token',
  description: '`scope` is present for keys. `expires_at` is null for a key that does not expire.',
  tag,
  access: { who: 'any' },
  returns: z.object({
    status: z.literal('valid'),
    user: User,
    scope: z.enum(keyScopes).optional(),
    expires_at: Timestamp.nullable(),
  }),
})

export const logout = endpoint({
  id: 'logout',
  method: 'POST',
  path: '/api/auth/logout',
  summary: 'End this session',
  description:
    'The token is refused from the next request on, except here: logging out twice succeeds. A key gets the same reply and stays valid.',
  tag,
  access: { who: 'any', acceptsLoggedOut: true },
  returns: z.object({ status: z.literal('logged_out') }),
  audit: { type: 'authentication', action: 'sign_out' },
})
