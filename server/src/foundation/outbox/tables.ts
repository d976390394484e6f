import type { Generated } from 'kysely'

export type OutboxTables = {
  outbox: {
    /** Order of insertion. Not the order of delivery: a later insert may be committed earlier. */
    sequence: Generated<number>
    /** Order of delivery, given by the relay after the commit; null until then. */
    position: number | null
    type: string
    /** JSON array of text. */
    agent_names: string
    /** JSON array of text. */
    agent_ids: string
    audience: string | null
    visible_to_user_id: string | null
    /** JSON object. */
    fields: string
    /** JSON `ReservedFields`. */
    reserved: string | null
    /** JSON `SeenBy`. */
    seen_by: string | null
    ts: string
  }
  /** One row: the newest position. Whoever gives positions locks it first. */
  outbox_head: { id: number; position: number }
}
