/** The parts of the address that pick entries. */
export type AuditSearch = {
  type?: string | undefined
  action?: string | undefined
  /** The account. */
  actor?: string | undefined
  /** The kind of actor. */
  by?: string | undefined
  source?: string | undefined
  scope?: string | undefined
  /** The key. */
  key?: string | undefined
  agent?: string | undefined
  outcome?: string | undefined
  request?: string | undefined
  /** So many hours back; 0: all time. */
  hours?: number | undefined
  /** Days, both included; they go before `hours`. */
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
} satisfies AuditSearch

/** A week, unless told. */
export const usualHours = 168

export type AuditWindow = { start_time?: string; end_time?: string }

/**
 * The time that is looked at. Days are those of the person's zone. What moves with the clock is cut to the
 * minute, so that the same question is asked again only when it is another one.
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
  const wanted = {
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
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
}

export function isFiltered(search: AuditSearch): boolean {
  return Object.keys(queryOf(search)).length > 0
}

/** The first moment of a day as `2026-03-01`, or of the one so many days later; null when it is none. */
function dayStart(day: string | undefined, later: number): number | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '')
  if (!parts) return null
  const [year = 0, month = 0, date = 0] = parts.slice(1).map(Number)
  return new Date(year, month - 1, date + later).getTime()
}
