import type { User } from '@roost/contracts/identity/users'
import {
  Activity,
  Bell,
  CalendarClock,
  FileChartColumn,
  Grid3x3,
  HeartPulse,
  Inbox,
  LayoutDashboard,
  LibraryBig,
  type LucideIcon,
  MessagesSquare,
  ScrollText,
  Settings,
  SquareTerminal,
  UserRound,
  UsersRound,
  Waypoints,
} from 'lucide-react'

export type Place = {
  /** Also what the palette finds it by. */
  label: string
  icon: LucideIcon
  to: '/' | '/library' | '/operations' | '/settings' | '/account' | '/workspace'
  search?: Record<string, string>
  /** Pressed one after another: `g`, then this key. */
  key?: string
  keywords?: string[]
  /** What is beside it: how much waits there. */
  count?: 'inbox' | 'notifications'
}

const settingsPlaces: Place[] = [
  {
    label: 'General settings',
    icon: Settings,
    to: '/settings',
    search: { tab: 'general' },
    keywords: ['prompt', 'model', 'build'],
  },
  {
    label: 'People and access',
    icon: UsersRound,
    to: '/settings',
    search: { tab: 'access' },
    keywords: ['users', 'roles', 'invite', 'allow-list', 'second factor', 'suspend', 'sign-in'],
  },
  {
    label: 'Audit log',
    icon: ScrollText,
    to: '/settings',
    search: { tab: 'audit' },
    keywords: ['who did what', 'history', 'export', 'verify'],
  },
  {
    label: 'Provider keys',
    icon: Settings,
    to: '/settings',
    search: { tab: 'integrations' },
    keywords: ['anthropic', 'openai', 'google', 'api key'],
  },
  {
    label: 'MCP keys',
    icon: Settings,
    to: '/settings',
    search: { tab: 'keys' },
    keywords: ['token', 'api key'],
  },
  {
    label: 'Agent defaults',
    icon: Settings,
    to: '/settings',
    search: { tab: 'agents' },
    keywords: ['ceiling', 'resources'],
  },
]

/** The sidebar, in its order. */
export function mainPlaces(): Place[] {
  return [
    {
      label: 'Dashboard',
      icon: LayoutDashboard,
      to: '/',
      key: 'd',
      keywords: ['agents', 'fleet', 'overview'],
    },
    {
      label: 'Inbox',
      icon: Inbox,
      to: '/operations',
      search: { tab: 'queue' },
      key: 'i',
      keywords: ['questions', 'approvals', 'alerts', 'operator queue', 'answer'],
      count: 'inbox',
    },
    {
      label: 'Executions',
      icon: Activity,
      to: '/operations',
      search: { tab: 'executions' },
      key: 'e',
      keywords: ['runs', 'tasks', 'history', 'failures', 'cost'],
    },
    {
      label: 'Schedules',
      icon: CalendarClock,
      to: '/operations',
      search: { tab: 'schedules' },
      key: 'c',
      keywords: ['cron', 'clock', 'timetable', 'webhook'],
    },
    {
      label: 'Library',
      icon: LibraryBig,
      to: '/library',
      key: 'l',
      keywords: ['templates', 'skills', 'sources', 'repositories', 'teach'],
    },
    {
      label: 'Workspace',
      icon: MessagesSquare,
      to: '/workspace',
      key: 'w',
      keywords: ['chat', 'shared', 'talk', 'conversations'],
    },
    { label: 'Settings', icon: Settings, to: '/settings', key: 's' },
  ]
}

/** Every page the palette leads to. */
export function allPlaces(user: Pick<User, 'role'>): Place[] {
  return [
    ...mainPlaces(),
    {
      label: 'Skills',
      icon: LibraryBig,
      to: '/library',
      search: { tab: 'skills' },
      keywords: ['library', 'sources', 'sync', 'teach'],
    },
    {
      label: 'Notifications',
      icon: Bell,
      to: '/operations',
      search: { tab: 'notifications' },
      key: 'n',
      keywords: ['told', 'news', 'bell'],
    },
    {
      label: 'Fleet health',
      icon: HeartPulse,
      to: '/operations',
      search: { tab: 'health' },
      key: 'h',
      keywords: ['monitoring', 'alerts', 'emergency stop', 'costs', 'status'],
    },
    {
      label: 'Reports',
      icon: FileChartColumn,
      to: '/operations',
      search: { tab: 'reports' },
      keywords: ['tables', 'figures', 'results'],
    },
    {
      label: 'Permissions of agents',
      icon: Grid3x3,
      to: '/operations',
      search: { tab: 'permissions' },
      keywords: ['matrix', 'may call', 'agent to agent'],
    },
    ...(user.role === 'admin'
      ? settingsPlaces
      : settingsPlaces.filter(({ search }) => search?.tab === 'keys')),
    {
      label: 'Account',
      icon: UserRound,
      to: '/account',
      key: 'a',
      keywords: ['password', 'e-mail', 'profile'],
    },
  ]
}

export const icons = { agent: SquareTerminal, api: Waypoints }

/** Places of one page are told apart by what they search for. */
export function activeOptions({ to, search }: Place) {
  return { exact: to === '/', includeSearch: search !== undefined }
}
