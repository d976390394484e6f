import { z } from 'zod'
import { roles } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Timestamp } from '../kit/primitives.ts'
import { User } from './users.ts'

const tag = 'Accounts'
const byAdmin = { who: 'admin', gate: 'person' } as const
const UserParams = z.object({ username: z.string() })
const audit = (action: string) => ({ type: 'authorization', action }) as const

/** An account as admins see it. */
export const ManagedUser = User.extend({ suspended_at: Timestamp.nullable() }).meta({ id: 'ManagedUser' })
export type ManagedUser = z.output<typeof ManagedUser>

export const listUsers = endpoint({
  id: 'listUsers',
  method: 'GET',
  path: '/api/users',
  summary: 'List all accounts, newest first',
  tag,
  access: { who: 'admin' },
  returns: z.array(ManagedUser),
})

export const SetUserRole = z.object({ role: z.enum(roles) })

export const setUserRole = endpoint({
  id: 'setUserRole',
  method: 'PUT',
  path: '/api/users/{username}/role',
  summary: "Change a person's role",
  description:
    'Applies from the next request on, and to open sockets immediately. No one can change their own role.',
  tag,
  access: byAdmin,
  params: UserParams,
  body: SetUserRole,
  returns: ManagedUser,
  fails: ['own_role', 'not_found', 'conflict'],
  audit: audit('set_role'),
})

export const suspendUser = endpoint({
  id: 'suspendUser',
  method: 'POST',
  path: '/api/users/{username}/suspend',
  summary: 'Suspend an account',
  description:
    'Its sessions end for good, also those in the Workspace, and its sockets close. Its keys are refused while the suspension lasts. Nothing is deleted.',
  tag,
  access: byAdmin,
  params: UserParams,
  returns: ManagedUser,
  fails: ['own_role', 'not_found', 'conflict'],
  audit: audit('suspend_user'),
})

export const unsuspendUser = endpoint({
  id: 'unsuspendUser',
  method: 'POST',
  path: '/api/users/{username}/unsuspend',
  summary: 'Reactivate a suspended account',
  description: 'The person signs in again; sessions from before the suspension stay ended. Keys work again.',
  tag,
  access: byAdmin,
  params: UserParams,
  returns: ManagedUser,
  fails: ['own_role', 'not_found'],
  audit: audit('unsuspend_user'),
})
