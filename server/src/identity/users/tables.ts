import type { Role } from '@roost/contracts/kit/access'

export type UserRow = {
  id: string
  /** In lower case, like the address. */
  username: string
  email: string | null
  name: string | null
  picture: string | null
  role: Role
  /** Null: signs in by other means. */
  password_hash: string | null
  created_at: string
  last_login_at: string | null
  suspended_at: string | null
  /** Since when the second factor is asked for; its secret is not here. */
  mfa_enrolled_at: string | null
}

export type UserTables = {
  users: UserRow
  /** User names and e-mail addresses, each held by one account. */
  user_logins: { login: string; user_id: string }
}
