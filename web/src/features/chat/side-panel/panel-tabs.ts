import type { AgentDetails } from '@roost/contracts/agents/agent'
import { FileChartColumn, FileDiff, FolderTree, LayoutPanelTop, SquareTerminal } from 'lucide-react'

/** The parts of the panel beside a conversation, in display order. */
const panelTabs = [
  { id: 'changes', label: 'Changes', Icon: FileDiff, who: 'access' },
  { id: 'files', label: 'Files', Icon: FolderTree, who: 'access' },
  { id: 'canvas', label: 'Canvas', Icon: LayoutPanelTop, who: 'access' },
  { id: 'reports', label: 'Reports', Icon: FileChartColumn, who: 'access' },
  { id: 'terminal', label: 'Terminal', Icon: SquareTerminal, who: 'owner' },
] as const

export type PanelTab = (typeof panelTabs)[number]
export type PanelTabId = PanelTab['id']

/** Those that the person may use, as on the agent's page. */
export function panelTabsFor({ is_owner, can_delete }: AgentDetails): PanelTab[] {
  return panelTabs.filter(({ who }) => who === 'access' || is_owner || can_delete)
}
