/** The search parameters that select entries. */
export type AuditSearch = {
  type?: string | undefined
  action?: string | undefined
  /** The account ID. */
  actor?: string | undefined
  /** The type of actor. */
  by?: string | undefined
  source?: string | undefined
  scope?: string | undefined
  /** The key ID. */
  key?: string | undefined
  agent?: string | undefined
  outcome?: string | undefined
  request?: string | undefined
  /** True: with the tickets for live sockets, which are hidden by default. */
  routine?: boolean | undefined
  /** Hours back from now; 0: all time. */
  hours?: number | undefined
  /** Days, both inclusive; they take precedence over `hours`. */
  from?: string | undefined
  to?: string | undefined
}

export const noFilter = {
  type: undefined,
  action: undefined,
  actor: undefined,
  by: undefined,
  source: undefined,
  scope: undefined,
  key: undefined,
  agent: undefined,
  outcome: undefined,
  request: undefined,
  routine: undefined,
} satisfies AuditSearch

/** The default: one week. */
export const usualHours = 168

export type AuditWindow = { start_time?: string; end_time?: string }

/**
 * The time range to query. Days are in the user's time zone. A relative range is rounded down to the minute,
 * so that the query key stays stable.
 */
export function windowOf({ hours = usualHours, from, to }: AuditSearch, now: number): AuditWindow {
  const start = dayStart(from, 0)
  const end = dayStart(to, 1)
  if (start !== null || end !== null) {
    return {
      ...(start === null ? {} : { start_time: new Date(start).toISOString() }),
      ...(end === null ? {} : { end_time: new Date(end - 1).toISOString() }),
    }
  }
  if (hours === 0) return {}
  const minute = Math.floor(now / 60_000) * 60_000
  return { start_time: new Date(minute - hours * 3_600_000).toISOString() }
}

export function queryOf(search: AuditSearch) {
  const query = {
    event_type: search.type,
    event_action: search.action,
    actor_id: search.actor,
    actor_type: search.by,
    source: search.source,
    mcp_scope: search.scope,
    mcp_key_id: search.key,
    outcome: search.outcome,
    request_id: search.request,
    ...(search.agent ? { target_type: 'agent', target_id: search.agent } : {}),
  }
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
}

/** Hides the tickets for live sockets, unless they are asked for or the user selected an action. */
export function routineOf({ routine, action }: AuditSearch): { routine?: 'false' } {
  return routine || action ? {} : { routine: 'false' }
}

export function isFiltered(search: AuditSearch): boolean {
  return Object.keys(queryOf(search)).length > 0 || search.routine === true
}

/** The start of a day such as `2026-03-01`, plus a number of days; null for invalid input. */
function dayStart(day: string | undefined, later: number): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '')
  if (!parts) return null
  const [year = 0, month = 0, date = 0] = parts.slice(1).map(Number)
  return new Date(year, month - 1, date + later).getTime()
}
