import {
  Activity,
  ChartColumnStacked,
  LayoutDashboard,
  LibraryBig,
  type LucideIcon,
  MessagesSquare,
  Settings,
} from 'lucide-react'
import type { MainPlace } from './navigation.ts'

export const mainIcons: Record<MainPlace['label'], LucideIcon> = {
  Dashboard: LayoutDashboard,
  Library: LibraryBig,
  Operations: Activity,
  Costs: ChartColumnStacked,
  Workspace: MessagesSquare,
  Settings,
}
