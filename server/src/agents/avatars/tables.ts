export type AvatarsTable = { agent_id: string; media_type: string; data_base64: string; updated_at: string }
