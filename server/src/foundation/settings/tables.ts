export type SettingTables = {
  settings: { key: string; value: string; updated_at: string }
  provider_keys: {
    provider: string
    /** Sealed for the provider: it does not open in another row. */
    sealed_key: string
    hint: string
    updated_at: string
    last_tested_at: string | null
    last_test_ok: number | null
  }
}

export type SettingRow = SettingTables['settings']
export type ProviderKeyRow = SettingTables['provider_keys']
