import { getRouteApi } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { windowOf } from './filter.ts'

const route = getRouteApi('/signed-in/audit')
type Search = ReturnType<typeof route.useSearch>

/** The filters of the address, and their time range as of when they were chosen. */
export function useAuditSearch() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  // The time range is fixed until the page is opened or refreshed; otherwise each minute would refetch.
  const [now, setNow] = useState(Date.now)
  const { hours, from, to } = search
  const window = useMemo(() => windowOf({ hours, from, to }, now), [hours, from, to, now])
  const change = (next: Partial<Search>, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace, resetScroll: false })
  return { search, window, change, renew: () => setNow(Date.now()) }
}
