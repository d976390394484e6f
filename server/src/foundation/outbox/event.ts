/** An event as a feature appends it. */
export type NewEvent = {
  /** With a dot: `agent.created`. */
  type: string
  /** All agents that the event names; it is visible only to viewers who may see every one of them. */
  agent_names: string[]
  agent_ids: string[]
  /** Delivered to admins only. */
  audience?: 'admin'
  /** Delivered to this person only. */
  visible_to_user_id?: string
  fields: Record<string, unknown>
  /** Fields that only some viewers of the event get. */
  reserved?: ReservedFields
  /** For the deletion of an agent: its last viewers. Without it, only admins would get the event. */
  seen_by?: SeenBy
}

/** Admins always get them. */
export type ReservedFields = {
  fields: Record<string, unknown>
  /** True: for all viewers of the event, except agents that view another agent. */
  is_open: boolean
  /** This person and this key always get them. */
  user_id: string | null
  key_id: string | null
}

export type SeenBy = {
  user_ids: string[]
  /** Lower-cased. */
  emails: string[]
  /** Agents with permission to call it. */
  agent_ids: string[]
}

export type StoredEvent = NewEvent & {
  /** Increases by one with each event. A signal has the newest position that this process has delivered. */
  position: number
  ts: string
  /** Live only: not stored, not replayed. */
  signal?: true
}

/** Handles one event. Its next event waits for the returned promise. */
export type Listener = (event: StoredEvent) => void | Promise<void>
