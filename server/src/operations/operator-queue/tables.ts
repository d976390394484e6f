import type {
  AlertKind,
  ItemPriority,
  ItemStatus,
  ItemType,
} from '@roost/contracts/operations/operator-queue'

export type OperatorItemsTable = {
  id: string
  /** Null: an alert about no single agent. */
  agent_id: string | null
  /** See `askKey`; unique per agent. Null for alerts of the platform. */
  request_id: string | null
  type: ItemType
  kind: AlertKind | null
  /** Agent and kind while an alert of the platform is pending, else null; unique. */
  pending_key: string | null
  status: ItemStatus
  priority: ItemPriority
  title: string
  question: string | null
  /** JSON. */
  options: string
  context: string
  proposal: string | null
  execution_id: string | null
  /** Lower-cased. */
  addressed_to_email: string | null
  created_at: string
  expires_at: string | null
  response: string | null
  response_text: string | null
  responded_by_id: string | null
  responded_by_email: string | null
  responded_at: string | null
  acknowledged_at: string | null
  disposition: 'answered' | 'cancelled' | 'expired' | null
  disposition_reason: string | null
  batch_id: string | null
  source: 'api' | 'file' | 'platform'
  /** JSON: the entry in the file, if it differs from this item. */
  entry_now: string | null
  /** `due`: the answer must start a run. `started`: it has. */
  resume: 'none' | 'due' | 'started'
  /** Time of its removal from lists. */
  cleared_at: string | null
}

export type OperatorQueueTables = { operator_items: OperatorItemsTable }
