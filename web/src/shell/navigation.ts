import type { User } from '@roost/contracts/identity/users'

/** Has no icon: the first page needs all shortcuts but shows few places. */
export type Place = {
  /** Also the search text of the palette and the key of its icon. */
  label: string
  to: '/' | '/library' | '/operations' | '/settings' | '/account' | '/workspace' | '/m'
  search?: Record<string, string>
  /** The shortcut: `g`, then this key. */
  key?: string
  keywords?: string[]
  /** Shows the number of waiting items beside the label. */
  hasCount?: true
}

const settingsPlaces: Place[] = [
  {
    label: 'General settings',
    to: '/settings',
    search: { tab: 'general' },
    keywords: ['prompt', 'model', 'build'],
  },
  {
    label: 'Users and access',
    to: '/settings',
    search: { tab: 'access' },
    keywords: [
      'users',
      'roles',
      'invite',
      'people',
      'allow list',
      'second factor',
      '2fa',
      'suspend',
      'sign-in',
    ],
  },
  {
    label: 'Audit log',
    to: '/settings',
    search: { tab: 'audit' },
    keywords: ['who did what', 'history', 'export', 'verify'],
  },
  {
    label: 'Integrations',
    to: '/settings',
    search: { tab: 'integrations' },
    keywords: ['anthropic', 'openai', 'google', 'api key'],
  },
  {
    label: 'MCP keys',
    to: '/settings',
    search: { tab: 'keys' },
    keywords: ['token', 'api key'],
  },
  {
    label: 'Agent defaults',
    to: '/settings',
    search: { tab: 'agents' },
    keywords: ['ceiling', 'resources'],
  },
]

/** The sidebar in display order. */
export const mainPlaces = [
  { label: 'Dashboard', to: '/', key: 'd', keywords: ['agents', 'fleet', 'overview'] },
  { label: 'Library', to: '/library', key: 'l', keywords: ['templates', 'sources', 'repositories'] },
  { label: 'Operations', to: '/operations', key: 'o', keywords: ['inbox', 'runs', 'fleet'], hasCount: true },
  { label: 'Workspace', to: '/workspace', key: 'w', keywords: ['chat', 'shared', 'talk', 'conversations'] },
  { label: 'Settings', to: '/settings', key: 's' },
] as const satisfies readonly Place[]
export type MainPlace = (typeof mainPlaces)[number]

const operationsPlaces: Place[] = [
  {
    label: 'Inbox',
    to: '/operations',
    search: { tab: 'queue' },
    key: 'i',
    keywords: ['questions', 'approvals', 'alerts', 'operator queue', 'answer'],
  },
  {
    label: 'Notifications',
    to: '/operations',
    search: { tab: 'notifications' },
    key: 'n',
    keywords: ['news', 'bell', 'messages'],
  },
  {
    label: 'Fleet health',
    to: '/operations',
    search: { tab: 'health' },
    key: 'h',
    keywords: ['monitoring', 'alerts', 'emergency stop', 'restart', 'costs', 'status'],
  },
  {
    label: 'Runs',
    to: '/operations',
    search: { tab: 'executions' },
    key: 'e',
    keywords: ['executions', 'tasks', 'history', 'failures', 'cost'],
  },
  {
    label: 'Schedules',
    to: '/operations',
    search: { tab: 'schedules' },
    key: 'c',
    keywords: ['cron', 'clock', 'timetable', 'webhook'],
  },
  {
    label: 'Reports',
    to: '/operations',
    search: { tab: 'reports' },
    keywords: ['tables', 'figures', 'results'],
  },
  {
    label: 'Agent permissions',
    to: '/operations',
    search: { tab: 'permissions' },
    keywords: ['matrix', 'may call', 'agent to agent'],
  },
]

/** Every page that the palette lists. */
export function allPlaces(user: Pick<User, 'role'>): Place[] {
  return [
    ...mainPlaces,
    ...operationsPlaces,
    {
      label: 'Skills',
      to: '/library',
      search: { tab: 'skills' },
      keywords: ['library', 'sources', 'sync', 'assign'],
    },
    ...(user.role === 'admin'
      ? settingsPlaces
      : settingsPlaces.filter(({ search }) => search?.tab === 'keys')),
    {
      label: 'Mobile overview',
      to: '/m',
      keywords: ['phone', 'inbox', 'start', 'stop', 'agents'],
    },
    {
      label: 'Account',
      to: '/account',
      key: 'a',
      keywords: ['password', 'e-mail', 'profile'],
    },
  ]
}
