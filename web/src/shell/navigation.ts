import type { User } from '@roost/contracts/identity/users'

/** Without its icon: the first page knows all places by their keys, and shows few. */
export type Place = {
  /** Also what the palette finds it by, and its icon. */
  label: string
  to: '/' | '/library' | '/operations' | '/settings' | '/account' | '/workspace'
  search?: Record<string, string>
  /** Pressed one after another: `g`, then this key. */
  key?: string
  keywords?: string[]
  /** How much waits there is told beside it. */
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
    label: 'People and access',
    to: '/settings',
    search: { tab: 'access' },
    keywords: ['users', 'roles', 'invite', 'allow-list', 'second factor', 'suspend', 'sign-in'],
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

/** The sidebar, in its order. */
export const mainPlaces = [
  { label: 'Dashboard', to: '/', key: 'd', keywords: ['agents', 'fleet', 'overview'] },
  { label: 'Library', to: '/library', key: 'l', keywords: ['templates', 'sources', 'repositories'] },
  { label: 'Operations', to: '/operations', key: 'o', keywords: ['waits', 'fleet'], hasCount: true },
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
    keywords: ['told', 'news', 'bell'],
  },
  {
    label: 'Fleet health',
    to: '/operations',
    search: { tab: 'health' },
    key: 'h',
    keywords: ['monitoring', 'alerts', 'emergency stop', 'restart', 'costs', 'status'],
  },
  {
    label: 'Executions',
    to: '/operations',
    search: { tab: 'executions' },
    key: 'e',
    keywords: ['runs', 'tasks', 'history', 'failures', 'cost'],
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
    label: 'Permissions of agents',
    to: '/operations',
    search: { tab: 'permissions' },
    keywords: ['matrix', 'may call', 'agent to agent'],
  },
]

/** Every page the palette leads to. */
export function allPlaces(user: Pick<User, 'role'>): Place[] {
  return [
    ...mainPlaces,
    ...operationsPlaces,
    {
      label: 'Skills',
      to: '/library',
      search: { tab: 'skills' },
      keywords: ['library', 'sources', 'sync', 'teach'],
    },
    ...(user.role === 'admin'
      ? settingsPlaces
      : settingsPlaces.filter(({ search }) => search?.tab === 'keys')),
    {
      label: 'Account',
      to: '/account',
      key: 'a',
      keywords: ['password', 'e-mail', 'profile'],
    },
  ]
}
