import { getRouteApi } from '@tanstack/react-router'

const route = getRouteApi('/signed-in/agents')

export type FleetSearch = { q?: string; tags?: string; status?: string; owner?: string; sort?: string }

/** The filter and the order in the address of the list of agents. Empty parts are omitted. */
export function useFleetFilter() {
  const { q, tags, status, owner, sort } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: FleetSearch) => {
    const parts = Object.fromEntries(Object.entries(next).map(([key, value]) => [key, value || undefined]))
    void navigate({ search: (now) => ({ ...now, ...parts }), replace: true, resetScroll: false })
  }
  return {
    filter: { q, tags, status, owner },
    sort,
    change,
    clear: () => change({ q: '', tags: '', status: '', owner: '' }),
  }
}
