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

/** By label. Settings pages without an icon of their own share one. */
const icons: Record<string, LucideIcon> = {
  ...mainIcons,
  Inbox,
  Notifications: Bell,
  'Fleet health': HeartPulse,
  Runs: History,
  Schedules: CalendarClock,
  Reports: FileChartColumn,
  'Agent permissions': Grid3x3,
  Skills: LibraryBig,
  'Users and access': UsersRound,
  'Audit log': ScrollText,
  Account: UserRound,
}
