import type { Proof } from '../users/index.ts'

export type SecondFactorRow = {
  user_id: string
  sealed_secret: string
  created_at: string
  /** Null: not confirmed and not required yet. */
  confirmed_at: string | null
  /** The newest time step whose code was accepted. Codes of this and earlier steps are used. */
  last_step: number | null
}

export type ChallengeRow = {
  token_hash: string
  user_id: string
  mode: Proof['mode']
  /** SHA-256 of the password hash of the first step. A password changed since then voids the challenge. */
  password_digest: string | null
  tries: number
  expires_at: string
}

export type SecondFactorTables = {
  second_factors: SecondFactorRow
  recovery_codes: { user_id: string; code_hash: string }
  sign_in_challenges: ChallengeRow
}
