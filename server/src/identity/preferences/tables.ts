export type PreferenceRow = {
  user_id: string
  key: string
  /** JSON. */
  value: string
  updated_at: string
}

export type PreferenceTables = { preferences: PreferenceRow }
