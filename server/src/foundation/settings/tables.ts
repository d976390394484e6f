export type SettingTables = {
  settings: { key: string; value: string; updated_at: string }
  provider_keys: {
    provider: string
    /** Sealed for this provider: cannot be opened in another row. */
    sealed_key: string
    hint: string
    updated_at: string
    last_tested_at: string | null
    last_test_ok: number | null
  }
  /** Held sweeps, at most one per retention setting. */
  retention_holds: {
    key: string
    window_days: number
    rows: number
    /** Share of the table in millionths. */
    share_ppm: number
    computed_at: string
    acknowledged_at: string | null
  }
}

export type SettingRow = SettingTables['settings']
export type RetentionHoldRow = SettingTables['retention_holds']
export type ProviderKeyRow = SettingTables['provider_keys']
