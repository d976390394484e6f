/** The state of an agent, for the users of the Workspace. */
export const stateWords = {
  ready: { label: 'Ready', tone: 'success' },
  stopped: { label: 'Stopped', tone: 'neutral' },
  unreachable: { label: 'Offline', tone: 'danger' },
} as const
