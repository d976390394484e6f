export type EmailCodeRow = {
  /** The door it opens; a newer code for the same door and address takes the place of the older. */
  purpose: string
  email: string
  /** Keyed with the installation's own key: six digits are soon tried through. */
  code_hash: string
  wrong_tries: number
  expires_at: string
}

export type EmailCodeTables = { email_codes: EmailCodeRow }
