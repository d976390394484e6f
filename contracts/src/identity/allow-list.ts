import { z } from 'zod'
import { roles } from '../kit/access.ts'
import { endpoint } from '../kit/endpoint.ts'
import { Id, Timestamp } from '../kit/primitives.ts'
import { EmailAddress } from './users.ts'

const tag = 'Accounts'
const audit = (action: string) => ({ type: 'authorization', action }) as const

export const allowListSources = ['manual', 'agent_sharing', 'access_request', 'cli'] as const
export type AllowListSource = (typeof allowListSources)[number]

/** An address that may sign in by e-mail. `added_by` is a user name; null when no signed-in user added it. */
export const AllowListEntry = z
  .object({
    id: Id,
    email: z.string(),
    default_role: z.enum(roles),
    source: z.enum(allowListSources),
    added_by: z.string().nullable(),
    added_at: Timestamp,
  })
  .meta({ id: 'AllowListEntry' })
export type AllowListEntry = z.output<typeof AllowListEntry>

export const AddAllowListEntry = z.object({
  email: EmailAddress,
  default_role: z.enum(roles).default('user'),
})

export const listAllowListEntries = endpoint({
  id: 'listAllowListEntries',
  method: 'GET',
  path: '/api/settings/email-whitelist',
  summary: 'List addresses that may sign in by e-mail, newest first',
  tag,
  access: { who: 'admin' },
  returns: z.array(AllowListEntry),
})

export const addAllowListEntry = endpoint({
  id: 'addAllowListEntry',
  method: 'POST',
  path: '/api/settings/email-whitelist',
  summary: 'Allow an address to sign in by e-mail',
  description: '`default_role` is the role of the account at its first sign-in; later sign-ins ignore it.',
  tag,
  access: { who: 'admin', gate: 'person' },
  body: AddAllowListEntry,
  status: 201,
  returns: AllowListEntry,
  fails: ['already_exists'],
  audit: audit('add_allow_list_entry'),
})

export const deleteAllowListEntry = endpoint({
  id: 'deleteAllowListEntry',
  method: 'DELETE',
  path: '/api/settings/email-whitelist/{email}',
  summary: 'Remove an address from the allow list',
  description:
    'Codes already sent become invalid. The account and its sessions remain; suspend the account to end them.',
  tag,
  access: { who: 'admin', gate: 'person' },
  params: z.object({ email: z.string() }),
  returns: z.object({ message: z.string(), email: z.string() }),
  fails: ['not_found'],
  audit: audit('delete_allow_list_entry'),
})
