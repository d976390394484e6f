import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ComponentType } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'

/** What every tab is given; most take one of the two. */
export type AgentTabProps = { agent: AgentDetails; name: string }

export type AgentTab = {
  /** In the address, as `?tab=`. */
  id: string
  label: string
  /** `owner`: the owner and admins. */
  who: 'access' | 'owner'
  /** `window`: the tab fills what the header leaves and scrolls inside. */
  fills?: 'window'
  Content: ComponentType<AgentTabProps>
}

/** The tabs of an agent's page in their order; the first one is shown when the address names none. */
export const agentTabs: readonly AgentTab[] = [
  {
    id: 'overview',
    label: 'Overview',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/overview/overview-tab.tsx')).OverviewTab),
  },
  {
    id: 'chat',
    label: 'Chat',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/chat/chat-tab.tsx')).ChatTab),
  },
  {
    id: 'executions',
    label: 'Executions',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/executions/executions-tab.tsx')).ExecutionsTab),
  },
  {
    id: 'schedules',
    label: 'Schedules',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/schedules/schedules-tab.tsx')).SchedulesTab),
  },
  {
    id: 'loops',
    label: 'Loops',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/loops/loops-tab.tsx')).LoopsTab),
  },
  {
    id: 'events',
    label: 'Events',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/subscriptions/events-tab.tsx')).EventsTab),
  },
  {
    id: 'reminders',
    label: 'Reminders',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/reminders/reminders-tab.tsx')).RemindersTab),
  },
  {
    id: 'skills',
    label: 'Skills',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/skills/agent-skills-tab.tsx')).AgentSkillsTab),
  },
  {
    id: 'files',
    label: 'Files',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/workspace/files-tab.tsx')).FilesTab),
  },
  {
    id: 'credentials',
    label: 'Credentials',
    who: 'access',
    Content: lazyPart(
      async () => (await import('../features/credentials/credentials-tab.tsx')).CredentialsTab,
    ),
  },
  {
    id: 'git',
    label: 'Git',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/git/git-tab.tsx')).GitTab),
  },
  {
    id: 'egress',
    label: 'Egress',
    who: 'owner',
    Content: lazyPart(async () => (await import('../features/egress/egress-tab.tsx')).EgressTab),
  },
  {
    id: 'logs',
    label: 'Logs',
    who: 'access',
    fills: 'window',
    Content: lazyPart(async () => (await import('../features/logs/logs-tab.tsx')).LogsTab),
  },
  {
    id: 'info',
    label: 'Info',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/info/info-tab.tsx')).InfoTab),
  },
  {
    id: 'folders',
    label: 'Folders',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/folders/folders-tab.tsx')).FoldersTab),
  },
  {
    id: 'permissions',
    label: 'Permissions',
    who: 'access',
    Content: lazyPart(
      async () => (await import('../features/permissions/permissions-tab.tsx')).PermissionsTab,
    ),
  },
  {
    id: 'sharing',
    label: 'Sharing',
    who: 'owner',
    Content: lazyPart(async () => (await import('../features/sharing/sharing-tab.tsx')).SharingTab),
  },
  {
    id: 'settings',
    label: 'Settings',
    who: 'access',
    Content: lazyPart(async () => (await import('../features/agent-settings/settings-tab.tsx')).SettingsTab),
  },
]
