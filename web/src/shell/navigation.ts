import type { User } from '@roost/contracts/identity/users'

/** Has no icon: the first page needs all shortcuts but shows few places. */
export type Place = {
  /** Also the title in the palette and the key of its icon and further words. */
  label: string
  to:
    | '/'
    | '/inbox'
    | '/agents'
    | '/runs'
    | '/schedules'
    | '/costs'
    | '/library'
    | '/workspace'
    | '/people'
    | '/keys'
    | '/audit'
    | '/settings'
    | '/account'
    | '/m'
    | '/shared'
  search?: Record<string, string>
  /** The shortcut: `g`, then this key. */
  key?: string
  /** Shows the number of waiting items beside the label. */
  hasCount?: true
  /** Everybody by default; `staff`: all but users with whom agents are only shared. */
  isFor?: 'admins' | 'staff'
}

/** The sidebar in display order. */
export const mainPlaces = [
  { label: 'Home', to: '/', key: 'd', isFor: 'staff' },
  { label: 'Inbox', to: '/inbox', key: 'i', hasCount: true },
  { label: 'Agents', to: '/agents', key: 'f' },
  { label: 'Runs', to: '/runs', key: 'e' },
  { label: 'Schedules', to: '/schedules', key: 'c' },
  { label: 'Costs', to: '/costs', key: 'm' },
  { label: 'Library', to: '/library', key: 'l' },
  { label: 'Workspace', to: '/workspace', key: 'w' },
  { label: 'People', to: '/people', key: 'p', isFor: 'admins' },
  { label: 'Keys', to: '/keys', key: 'k' },
  { label: 'Audit', to: '/audit', key: 't', isFor: 'admins' },
  { label: 'Settings', to: '/settings', key: 's', isFor: 'admins' },
] as const satisfies readonly Place[]
export type MainPlace = (typeof mainPlaces)[number]

/** The pages with a shortcut. */
export const keyedPlaces: readonly (Place & { key: string })[] = [
  ...mainPlaces,
  {
    label: 'Notifications',
    to: '/inbox',
    search: { tab: 'notifications' },
    key: 'n',
  },
  {
    label: 'Fleet health',
    to: '/agents',
    search: { tab: 'health' },
    key: 'h',
  },
  {
    label: 'Account',
    to: '/account',
    key: 'a',
  },
]

/** Links to pages of admins would lead others to a refusal, and users start in the Workspace instead of at home. */
export function visibleTo<P extends Place>({ role }: Pick<User, 'role'>, places: readonly P[]): P[] {
  return places.filter(({ isFor }) => (isFor === 'admins' ? role === 'admin' : !isFor || role !== 'user'))
}
