import type { AgentDetails } from '@roost/contracts/agents/agent'
import { type AgentTabId, type AgentTabPlace, agentTabPlaces } from '../shell/agent-tabs.ts'
import { type LazyPart, lazyPart } from '../ui/lazy-part.tsx'

/** The props of every tab; most tabs use one of the two. */
export type AgentTabProps = { agent: AgentDetails; name: string }

type TabContent = {
  /** `window`: the tab fills the height below the header and scrolls inside. */
  fills?: 'window'
  Content: LazyPart<AgentTabProps>
}
export type AgentTab = AgentTabPlace & TabContent

const contents: Record<AgentTabId, TabContent> = {
  chat: {
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/chat/chat-tab.tsx')).ChatTab),
  },
  canvas: {
    Content: lazyPart(async () => (await import('../features/canvas/canvas-tab.tsx')).CanvasTab),
  },
  reports: {
    Content: lazyPart(
      async () => (await import('../features/reports/agent-reports-tab.tsx')).AgentReportsTab,
    ),
  },
  executions: {
    Content: lazyPart(async () => (await import('../features/executions/executions-tab.tsx')).ExecutionsTab),
  },
  overview: {
    Content: lazyPart(async () => (await import('../features/overview/overview-tab.tsx')).OverviewTab),
  },
  schedules: {
    Content: lazyPart(async () => (await import('../features/schedules/schedules-tab.tsx')).SchedulesTab),
  },
  loops: {
    Content: lazyPart(async () => (await import('../features/loops/loops-tab.tsx')).LoopsTab),
  },
  events: {
    Content: lazyPart(async () => (await import('../features/subscriptions/events-tab.tsx')).EventsTab),
  },
  reminders: {
    Content: lazyPart(async () => (await import('../features/reminders/reminders-tab.tsx')).RemindersTab),
  },
  files: {
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/workspace/files-tab.tsx')).FilesTab),
  },
  history: {
    Content: lazyPart(async () => (await import('../features/history/history-tab.tsx')).HistoryTab),
  },
  terminal: {
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/terminal/terminal-tab.tsx')).TerminalTab),
  },
  git: {
    Content: lazyPart(async () => (await import('../features/git/git-tab.tsx')).GitTab),
  },
  skills: {
    Content: lazyPart(async () => (await import('../features/skills/agent-skills-tab.tsx')).AgentSkillsTab),
  },
  playbooks: {
    Content: lazyPart(async () => (await import('../features/playbooks/playbooks-tab.tsx')).PlaybooksTab),
  },
  folders: {
    Content: lazyPart(async () => (await import('../features/folders/folders-tab.tsx')).FoldersTab),
  },
  credentials: {
    Content: lazyPart(
      async () => (await import('../features/credentials/credentials-tab.tsx')).CredentialsTab,
    ),
  },
  egress: {
    Content: lazyPart(async () => (await import('../features/egress/egress-tab.tsx')).EgressTab),
  },
  permissions: {
    Content: lazyPart(
      async () => (await import('../features/permissions/permissions-tab.tsx')).PermissionsTab,
    ),
  },
  sharing: {
    Content: lazyPart(async () => (await import('../features/sharing/sharing-tab.tsx')).SharingTab),
  },
  payments: {
    Content: lazyPart(async () => (await import('../features/paid-chat/payments-tab.tsx')).PaymentsTab),
  },
  settings: {
    Content: lazyPart(async () => (await import('../features/agent-settings/settings-tab.tsx')).SettingsTab),
  },
  logs: {
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/logs/logs-tab.tsx')).LogsTab),
  },
  info: {
    Content: lazyPart(async () => (await import('../features/info/info-tab.tsx')).InfoTab),
  },
}

/** The tabs of an agent's page in display order. */
export const agentTabs: readonly AgentTab[] = agentTabPlaces.map((place) => ({
  ...place,
  ...contents[place.id],
}))
