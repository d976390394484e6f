/** How an agent stands, to somebody who wants to talk to it. */
export const stateWords = {
  ready: { label: 'Ready', tone: 'success' },
  stopped: { label: 'Stopped', tone: 'neutral' },
  unreachable: { label: 'Out of reach', tone: 'danger' },
} as const
