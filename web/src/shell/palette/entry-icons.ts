import {
  Bell,
  BookOpen,
  CalendarClock,
  CircleHelp,
  FileChartColumn,
  FileText,
  FolderOpen,
  GitBranch,
  GitFork,
  Grid3x3,
  HeartPulse,
  History,
  Info,
  KeyRound,
  LibraryBig,
  LogOut,
  type LucideIcon,
  MessageSquare,
  Monitor,
  Moon,
  OctagonX,
  Pause,
  Play,
  Plus,
  Settings,
  SquareTerminal,
  Sun,
  Trash2,
  UserRound,
  UsersRound,
} from 'lucide-react'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { mainIcons } from '../main-icons.ts'
import type { Icon } from './entries.ts'

export function iconOf(icon: Icon): LucideIcon | typeof StopIcon {
  if (typeof icon === 'string') return plain[icon]
  if ('place' in icon) return placeIcons[icon.place] ?? Settings
  return tabIcons[icon.tab] ?? SquareTerminal
}

const plain: Record<Extract<Icon, string>, LucideIcon | typeof StopIcon> = {
  agent: SquareTerminal,
  create: Plus,
  start: Play,
  stop: StopIcon,
  fork: GitFork,
  delete: Trash2,
  schedule: CalendarClock,
  pause: Pause,
  emergency: OctagonX,
  light: Sun,
  dark: Moon,
  system: Monitor,
  'sign-out': LogOut,
  help: CircleHelp,
  book: BookOpen,
}

/** By label. Settings pages without an icon of their own share one. */
const placeIcons: Record<string, LucideIcon> = {
  ...mainIcons,
  Notifications: Bell,
  'Fleet health': HeartPulse,
  Reports: FileChartColumn,
  'Agent permissions': Grid3x3,
  Skills: LibraryBig,
  Templates: LibraryBig,
  Account: UserRound,
}

/** By the id of the tab; the others share the icon of agents. */
const tabIcons: Record<string, LucideIcon> = {
  chat: MessageSquare,
  reports: FileChartColumn,
  executions: History,
  schedules: CalendarClock,
  files: FolderOpen,
  git: GitBranch,
  skills: LibraryBig,
  credentials: KeyRound,
  sharing: UsersRound,
  settings: Settings,
  logs: FileText,
  info: Info,
}
