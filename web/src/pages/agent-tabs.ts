import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ComponentType } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'

/** The props of every tab; most tabs use one of the two. */
export type AgentTabProps = { agent: AgentDetails; name: string }

/** Headings of the tab menu on narrow screens. Tabs of one group are adjacent in the tab row. */
export const tabGroups = {
  runs: 'Activity',
  triggers: 'Triggers',
  workspace: 'Workspace',
  access: 'Access',
  agent: 'Agent',
} as const

export type AgentTab = {
  /** The value of `?tab=` in the address. */
  id: string
  label: string
  group: keyof typeof tabGroups
  /** `owner`: shown to the owner and admins only. */
  who: 'access' | 'owner'
  /** `window`: the tab fills the height below the header and scrolls inside. */
  fills?: 'window'
  Content: ComponentType<AgentTabProps>
}

/** The tabs of an agent's page in display order; the first one is the default. */
export const agentTabs: readonly AgentTab[] = [
  {
    id: 'overview',
    label: 'Overview',
    group: 'runs',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/overview/overview-tab.tsx')).OverviewTab),
  },
  {
    id: 'chat',
    label: 'Chat',
    group: 'runs',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/chat/chat-tab.tsx')).ChatTab),
  },
  {
    id: 'executions',
    label: 'Runs',
    group: 'runs',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/executions/executions-tab.tsx')).ExecutionsTab),
  },
  {
    id: 'canvas',
    label: 'Canvas',
    group: 'runs',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/canvas/canvas-tab.tsx')).CanvasTab),
  },
  {
    id: 'reports',
    label: 'Reports',
    group: 'runs',
    who: 'access',
    Content: lazyPart(
      async () => (await import('../features/reports/agent-reports-tab.tsx')).AgentReportsTab,
    ),
  },
  {
    id: 'logs',
    label: 'Logs',
    group: 'runs',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/logs/logs-tab.tsx')).LogsTab),
  },
  {
    id: 'schedules',
    label: 'Schedules',
    group: 'triggers',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/schedules/schedules-tab.tsx')).SchedulesTab),
  },
  {
    id: 'loops',
    label: 'Loops',
    group: 'triggers',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/loops/loops-tab.tsx')).LoopsTab),
  },
  {
    id: 'events',
    label: 'Events',
    group: 'triggers',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/subscriptions/events-tab.tsx')).EventsTab),
  },
  {
    id: 'reminders',
    label: 'Reminders',
    group: 'triggers',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/reminders/reminders-tab.tsx')).RemindersTab),
  },
  {
    id: 'files',
    label: 'Files',
    group: 'workspace',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/workspace/files-tab.tsx')).FilesTab),
  },
  {
    id: 'terminal',
    label: 'Terminal',
    group: 'workspace',
    who: 'owner',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/terminal/terminal-tab.tsx')).TerminalTab),
  },
  {
    id: 'folders',
    label: 'Shared folders',
    group: 'workspace',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/folders/folders-tab.tsx')).FoldersTab),
  },
  {
    id: 'skills',
    label: 'Skills',
    group: 'workspace',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/skills/agent-skills-tab.tsx')).AgentSkillsTab),
  },
  {
    id: 'playbooks',
    label: 'Playbooks',
    group: 'workspace',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/playbooks/playbooks-tab.tsx')).PlaybooksTab),
  },
  {
    id: 'git',
    label: 'Git',
    group: 'workspace',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/git/git-tab.tsx')).GitTab),
  },
  {
    id: 'credentials',
    label: 'Credentials',
    group: 'access',
    who: 'access',
    Content: lazyPart(
      async () => (await import('../features/credentials/credentials-tab.tsx')).CredentialsTab,
    ),
  },
  {
    id: 'egress',
    label: 'Outbound network',
    group: 'access',
    who: 'owner',
    Content: lazyPart(async () => (await import('../features/egress/egress-tab.tsx')).EgressTab),
  },
  {
    id: 'permissions',
    label: 'Permissions',
    group: 'access',
    who: 'access',
    Content: lazyPart(
      async () => (await import('../features/permissions/permissions-tab.tsx')).PermissionsTab,
    ),
  },
  {
    id: 'sharing',
    label: 'Sharing',
    group: 'access',
    who: 'owner',
    Content: lazyPart(async () => (await import('../features/sharing/sharing-tab.tsx')).SharingTab),
  },
  {
    id: 'payments',
    label: 'Paid chat',
    group: 'access',
    who: 'owner',
    Content: lazyPart(async () => (await import('../features/paid-chat/payments-tab.tsx')).PaymentsTab),
  },
  {
    id: 'info',
    label: 'Info',
    group: 'agent',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/info/info-tab.tsx')).InfoTab),
  },
  {
    id: 'settings',
    label: 'Settings',
    group: 'agent',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/agent-settings/settings-tab.tsx')).SettingsTab),
  },
]
