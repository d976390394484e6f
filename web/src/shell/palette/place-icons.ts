import {
  Bell,
  CalendarClock,
  FileChartColumn,
  Grid3x3,
  HeartPulse,
  History,
  Inbox,
  LibraryBig,
  type LucideIcon,
  ScrollText,
  Settings,
  UserRound,
  UsersRound,
} from 'lucide-react'
import { mainIcons } from '../main-icons.ts'
import type { Place } from '../navigation.ts'

export function placeIcon({ label }: Pick<Place, 'label'>): LucideIcon {
  return icons[label] ?? Settings
}

/** By label; what is set up is under the one of the settings. */
const icons: Record<string, LucideIcon> = {
  ...mainIcons,
  Inbox,
  Notifications: Bell,
  'Fleet health': HeartPulse,
  Executions: History,
  Schedules: CalendarClock,
  Reports: FileChartColumn,
  'Permissions of agents': Grid3x3,
  Skills: LibraryBig,
  'People and access': UsersRound,
  'Audit log': ScrollText,
  Account: UserRound,
}
