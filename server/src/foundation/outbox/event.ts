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
  /** Further fields, which not everybody reads who sees the event. */
  reserved?: ReservedFields
  /**
   * For the end of an agent: who could see it until then. Afterwards it is in nobody's reach, and the event
   * would reach admins alone.
   */
  seen_by?: SeenBy
}

/** Admins read them always. */
export type ReservedFields = {
  fields: Record<string, unknown>
  /** Everybody who sees the event reads them, except agents that look at another agent. */
  is_open: boolean
  /** This person and this key read them whatever `is_open` says. */
  user_id: string | null
  key_id: string | null
}

export type SeenBy = {
  user_ids: string[]
  /** Lower-cased. */
  emails: string[]
  /** Agents that were permitted to call it. */
  agent_ids: string[]
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
