/** Something that happened, as a feature tells it. */
export type NewEvent = {
  /** With a dot: `agent.created`. */
  type: string
  /** Every agent that the event names; who may not see one of them does not see the event. */
  agent_names: string[]
  agent_ids: string[]
  /** Delivered to admins only. */
  audience?: 'admin'
  /** Delivered to this person only. */
  visible_to_user_id?: string
  fields: Record<string, unknown>
}

export type StoredEvent = NewEvent & {
  /** Grows by one from event to event. A signal repeats the newest one that this process has delivered. */
  position: number
  ts: string
  /** Live only: not stored, not replayed. */
  signal?: true
}

/** Hears one event; what it answers is waited for before the same listener hears the next. */
export type Listener = (event: StoredEvent) => void | Promise<void>
