import { queryKeys, type RunQuery } from '@roost/contracts/runs/run-query'
import type { RunFilter } from '../queries.ts'

/** The parameters of an address that filter runs. */
export const querySearchKeys = [
  ...queryKeys.filter((key) => key !== 'since' && key !== 'until'),
  'hours',
  'from',
  'to',
  'q',
] as const satisfies readonly (keyof RunQuery)[]

type QuerySearch = { [Key in keyof RunQuery]?: RunQuery[Key] | undefined }

/** The filter of an address. Other parameters are ignored. */
export function queryOf(search: QuerySearch, usualHours?: number): RunQuery {
  const { hours, from, to, ...rest } = search
  // With days, the API ignores the hours.
  const isPeriod = Boolean(from || to)
  const period = isPeriod ? { from, to } : { hours: hours === usualHours ? undefined : hours }
  const entries = Object.entries({ ...rest, ...period })
  const known = entries.filter(
    ([key, value]) => querySearchKeys.some((each) => each === key) && value !== undefined,
  )
  // Each value has the type of the parameter with the same key.
  return Object.fromEntries(known) as RunQuery
}

/** The parameters of an address for a filter; those that it does not have are removed. */
export function searchOf(query: RunQuery): QuerySearch {
  // Each value has the type of the condition with the same key.
  return Object.fromEntries(querySearchKeys.map((key) => [key, query[key]])) as QuerySearch
}

/** The filter as the list of runs takes it. */
export function filterOf({ q, hours = 0, ...query }: RunQuery): RunFilter {
  return { ...query, hours, ...(q ? { search: q } : {}) }
}
