/** Has no icon: the first page needs all shortcuts but shows few places. */
export type Place = {
  /** Also the title in the palette and the key of its icon and further words. */
  label: string
  to: '/' | '/library' | '/operations' | '/costs' | '/settings' | '/account' | '/workspace' | '/m'
  search?: Record<string, string>
  /** The shortcut: `g`, then this key. */
  key?: string
  /** Shows the number of waiting items beside the label. */
  hasCount?: true
}

/** The sidebar in display order. */
export const mainPlaces = [
  { label: 'Dashboard', to: '/', key: 'd' },
  { label: 'Library', to: '/library', key: 'l' },
  { label: 'Operations', to: '/operations', key: 'o', hasCount: true },
  { label: 'Costs', to: '/costs', key: 'm' },
  { label: 'Workspace', to: '/workspace', key: 'w' },
  { label: 'Settings', to: '/settings', key: 's' },
] as const satisfies readonly Place[]
export type MainPlace = (typeof mainPlaces)[number]

/** The pages with a shortcut. */
export const keyedPlaces: readonly (Place & { key: string })[] = [
  ...mainPlaces,
  {
    label: 'Inbox',
    to: '/operations',
    search: { tab: 'queue' },
    key: 'i',
  },
  {
    label: 'Notifications',
    to: '/operations',
    search: { tab: 'notifications' },
    key: 'n',
  },
  {
    label: 'Fleet health',
    to: '/operations',
    search: { tab: 'health' },
    key: 'h',
  },
  {
    label: 'Runs',
    to: '/operations',
    search: { tab: 'executions' },
    key: 'e',
  },
  {
    label: 'Schedules',
    to: '/operations',
    search: { tab: 'schedules' },
    key: 'c',
  },
  {
    label: 'Account',
    to: '/account',
    key: 'a',
  },
]
