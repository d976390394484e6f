import {
  Bot,
  CalendarClock,
  ChartColumnStacked,
  History,
  House,
  Inbox,
  KeyRound,
  LibraryBig,
  type LucideIcon,
  MessagesSquare,
  ScrollText,
  Settings,
  Users,
} from 'lucide-react'
import type { MainPlace } from './navigation.ts'

export const mainIcons: Record<MainPlace['label'], LucideIcon> = {
  Home: House,
  Inbox,
  Agents: Bot,
  Runs: History,
  Schedules: CalendarClock,
  Costs: ChartColumnStacked,
  Library: LibraryBig,
  Workspace: MessagesSquare,
  People: Users,
  Keys: KeyRound,
  Audit: ScrollText,
  Settings,
}
