import type { AllowListSource } from '@roost/contracts/identity/allow-list'
import type { Role } from '@roost/contracts/kit/access'

export type AllowListRow = {
  /** In lower case. */
  email: string
  id: string
  /** Of the account that the first sign-in makes. */
  default_role: Role
  source: AllowListSource
  /** User name. */
  added_by: string | null
  added_at: string
}

export type AllowListTables = { allow_list: AllowListRow }
