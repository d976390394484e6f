/** A tab of an agent's page, without its content: the palette lists the tabs of every agent. */
export type AgentTabPlace = {
  /** The value of `?tab=` in the address. */
  id: string
  label: string
  /** The guide of the tab: a path below `docs/`, without `.md`. */
  guide: string
  group: keyof typeof tabGroups
  /** `owner`: shown to the owner and admins only. */
  who: 'access' | 'owner'
}

/** The first level of an agent's navigation, in display order. */
export const tabGroups = {
  chat: 'Chat',
  runs: 'Runs',
  automations: 'Automations',
  files: 'Files & tools',
  access: 'Access',
  settings: 'Settings',
} as const

/** In display order; the first one of a group is its default. */
export const agentTabPlaces = [
  { id: 'chat', label: 'Chat', guide: 'how-to/chat', group: 'chat', who: 'access' },
  { id: 'canvas', label: 'Canvas', guide: 'how-to/canvas', group: 'chat', who: 'access' },
  { id: 'reports', label: 'Reports', guide: 'how-to/inbox', group: 'chat', who: 'access' },
  { id: 'executions', label: 'Runs', guide: 'concepts/runs', group: 'runs', who: 'access' },
  { id: 'overview', label: 'Overview', guide: 'how-to/tasks', group: 'runs', who: 'access' },
  { id: 'schedules', label: 'Schedules', guide: 'operate/schedules', group: 'automations', who: 'access' },
  { id: 'loops', label: 'Loops', guide: 'operate/loops', group: 'automations', who: 'access' },
  { id: 'events', label: 'Events', guide: 'operate/events', group: 'automations', who: 'access' },
  { id: 'reminders', label: 'Reminders', guide: 'operate/events', group: 'automations', who: 'access' },
  { id: 'files', label: 'Files', guide: 'how-to/files', group: 'files', who: 'access' },
  { id: 'history', label: 'History', guide: 'how-to/undo', group: 'files', who: 'access' },
  { id: 'terminal', label: 'Terminal', guide: 'operate/terminal', group: 'files', who: 'owner' },
  { id: 'git', label: 'Git', guide: 'how-to/git', group: 'files', who: 'access' },
  { id: 'skills', label: 'Skills', guide: 'how-to/skills', group: 'files', who: 'access' },
  { id: 'playbooks', label: 'Playbooks', guide: 'how-to/skills', group: 'files', who: 'access' },
  { id: 'folders', label: 'Shared folders', guide: 'how-to/folders', group: 'files', who: 'access' },
  { id: 'credentials', label: 'Credentials', guide: 'how-to/credentials', group: 'access', who: 'access' },
  { id: 'egress', label: 'Outbound network', guide: 'operate/egress', group: 'access', who: 'owner' },
  { id: 'permissions', label: 'Permissions', guide: 'operate/sharing', group: 'access', who: 'access' },
  { id: 'sharing', label: 'Sharing', guide: 'operate/sharing', group: 'access', who: 'owner' },
  { id: 'payments', label: 'Paid chat', guide: 'operate/paid-chat', group: 'access', who: 'owner' },
  { id: 'settings', label: 'Settings', guide: 'how-to/limits', group: 'settings', who: 'access' },
  { id: 'logs', label: 'Logs', guide: 'operate/troubleshooting', group: 'settings', who: 'access' },
  { id: 'info', label: 'Info', guide: 'agents/container', group: 'settings', who: 'access' },
] as const satisfies readonly AgentTabPlace[]

export type AgentTabId = (typeof agentTabPlaces)[number]['id']
