import type { CanvasAudience } from '@roost/contracts/conversations/canvas'
import type { CanvasTemplate } from '@roost/contracts/conversations/canvas-blocks'
import type { ShareScope } from '@roost/contracts/conversations/canvas-shares'

export type CanvasesTable = {
  agent_id: string
  canvas_id: string
  title: string | null
  audience: CanvasAudience
  template: CanvasTemplate | null
  pinned: 0 | 1
  created_at: string
  updated_at: string
  updated_by_execution_id: string | null
  /** JSON. */
  blocks: string
}

export type CanvasSharesTable = {
  id: string
  agent_id: string
  canvas_id: string
  /** SHA-256 of the token. */
  token_hash: string
  token_sealed: string
  scope: ShareScope
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  last_viewed_at: string | null
  view_count: number
}

export type CanvasTables = { agent_canvases: CanvasesTable; canvas_shares: CanvasSharesTable }
