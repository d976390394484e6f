import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ComponentType } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'

/** The props of every tab; most tabs use one of the two. */
export type AgentTabProps = { agent: AgentDetails; name: string }

/** The first level of an agent's navigation, in display order. */
export const tabGroups = {
  chat: 'Chat',
  runs: 'Runs',
  automations: 'Automations',
  files: 'Files & tools',
  access: 'Access',
  settings: 'Settings',
} as const

export type AgentTab = {
  /** The value of `?tab=` in the address. */
  id: string
  label: string
  /** The guide of the tab: a path below `docs/`, without `.md`. */
  guide: string
  group: keyof typeof tabGroups
  /** `owner`: shown to the owner and admins only. */
  who: 'access' | 'owner'
  /** `window`: the tab fills the height below the header and scrolls inside. */
  fills?: 'window'
  Content: ComponentType<AgentTabProps>
}

/** The tabs of an agent's page in display order; the first one of a group is its default. */
export const agentTabs: readonly AgentTab[] = [
  {
    id: 'chat',
    label: 'Chat',
    guide: 'how-to/chat',
    group: 'chat',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/chat/chat-tab.tsx')).ChatTab),
  },
  {
    id: 'canvas',
    label: 'Canvas',
    guide: 'how-to/canvas',
    group: 'chat',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/canvas/canvas-tab.tsx')).CanvasTab),
  },
  {
    id: 'reports',
    label: 'Reports',
    guide: 'how-to/inbox',
    group: 'chat',
    who: 'access',
    Content: lazyPart(
      async () => (await import('../features/reports/agent-reports-tab.tsx')).AgentReportsTab,
    ),
  },
  {
    id: 'executions',
    label: 'Runs',
    guide: 'concepts/runs',
    group: 'runs',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/executions/executions-tab.tsx')).ExecutionsTab),
  },
  {
    id: 'overview',
    label: 'Overview',
    guide: 'how-to/tasks',
    group: 'runs',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/overview/overview-tab.tsx')).OverviewTab),
  },
  {
    id: 'schedules',
    label: 'Schedules',
    guide: 'operate/schedules',
    group: 'automations',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/schedules/schedules-tab.tsx')).SchedulesTab),
  },
  {
    id: 'loops',
    label: 'Loops',
    guide: 'operate/loops',
    group: 'automations',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/loops/loops-tab.tsx')).LoopsTab),
  },
  {
    id: 'events',
    label: 'Events',
    guide: 'operate/events',
    group: 'automations',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/subscriptions/events-tab.tsx')).EventsTab),
  },
  {
    id: 'reminders',
    label: 'Reminders',
    guide: 'operate/events',
    group: 'automations',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/reminders/reminders-tab.tsx')).RemindersTab),
  },
  {
    id: 'files',
    label: 'Files',
    guide: 'how-to/workspace',
    group: 'files',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/workspace/files-tab.tsx')).FilesTab),
  },
  {
    id: 'terminal',
    label: 'Terminal',
    guide: 'operate/terminal',
    group: 'files',
    who: 'owner',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/terminal/terminal-tab.tsx')).TerminalTab),
  },
  {
    id: 'git',
    label: 'Git',
    guide: 'how-to/git',
    group: 'files',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/git/git-tab.tsx')).GitTab),
  },
  {
    id: 'skills',
    label: 'Skills',
    guide: 'how-to/skills',
    group: 'files',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/skills/agent-skills-tab.tsx')).AgentSkillsTab),
  },
  {
    id: 'playbooks',
    label: 'Playbooks',
    guide: 'how-to/skills',
    group: 'files',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/playbooks/playbooks-tab.tsx')).PlaybooksTab),
  },
  {
    id: 'folders',
    label: 'Shared folders',
    guide: 'how-to/folders',
    group: 'files',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/folders/folders-tab.tsx')).FoldersTab),
  },
  {
    id: 'credentials',
    label: 'Credentials',
    guide: 'how-to/credentials',
    group: 'access',
    who: 'access',
    Content: lazyPart(
      async () => (await import('../features/credentials/credentials-tab.tsx')).CredentialsTab,
    ),
  },
  {
    id: 'egress',
    label: 'Outbound network',
    guide: 'operate/egress',
    group: 'access',
    who: 'owner',
    Content: lazyPart(async () => (await import('../features/egress/egress-tab.tsx')).EgressTab),
  },
  {
    id: 'permissions',
    label: 'Permissions',
    guide: 'operate/sharing',
    group: 'access',
    who: 'access',
    Content: lazyPart(
      async () => (await import('../features/permissions/permissions-tab.tsx')).PermissionsTab,
    ),
  },
  {
    id: 'sharing',
    label: 'Sharing',
    guide: 'operate/sharing',
    group: 'access',
    who: 'owner',
    Content: lazyPart(async () => (await import('../features/sharing/sharing-tab.tsx')).SharingTab),
  },
  {
    id: 'payments',
    label: 'Paid chat',
    guide: 'operate/paid-chat',
    group: 'access',
    who: 'owner',
    Content: lazyPart(async () => (await import('../features/paid-chat/payments-tab.tsx')).PaymentsTab),
  },
  {
    id: 'settings',
    label: 'Settings',
    guide: 'how-to/limits',
    group: 'settings',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/agent-settings/settings-tab.tsx')).SettingsTab),
  },
  {
    id: 'logs',
    label: 'Logs',
    guide: 'operate/troubleshooting',
    group: 'settings',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/logs/logs-tab.tsx')).LogsTab),
  },
  {
    id: 'info',
    label: 'Info',
    guide: 'agents/container',
    group: 'settings',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/info/info-tab.tsx')).InfoTab),
  },
]
