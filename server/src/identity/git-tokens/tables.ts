export type GitTokenRow = { user_id: string; sealed: string; updated_at: string }

export type GitTokenTables = { git_tokens: GitTokenRow }
