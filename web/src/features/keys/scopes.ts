import type { KeyScope } from '@roost/contracts/kit/access'

export type ScopeWords = {
  label: string
  /** In one sentence. */
  hint: string
  reaches: readonly string[]
  never: readonly string[]
  /** What ends a key of this scope. */
  ends: string
}

/** What each scope reaches, in words. */
export const scopeWords: Record<KeyScope, ScopeWords> = {
  user: {
    label: 'User',
    hint: 'Everything its owner may do, except what needs a person at the browser.',
    reaches: [
      'The agents its owner reaches: chats, tasks, files, schedules, settings',
      'With an admin as owner, the whole fleet',
    ],
    never: ['Passwords and second factors', 'Keys of the scopes ops and portal_delegate'],
    ends: 'It never expires by itself. It stops while its owner is suspended.',
  },
  ops: {
    label: 'Ops',
    hint: 'Reads for monitoring: fleet, health, executions, schedules, costs. It changes nothing.',
    reaches: [
      'Status, health and costs of the fleet',
      'Executions with their logs and live streams',
      'Schedules, alerts, telemetry, the version',
    ],
    never: ['Writing anything', 'Files, chats and settings of agents', 'People and keys'],
    ends: 'At the end it was given, if any. It stops while its owner is no admin.',
  },
  portal_delegate: {
    label: 'Portal delegate',
    hint: 'Exchanges an e-mail address for a Workspace session, and nothing else.',
    reaches: ['The exchange of an address for a Workspace session, for a portal of your own'],
    never: ['Everything else'],
    ends: 'At the end it was given, if any. It stops while its owner is no admin.',
  },
  agent: {
    label: 'Agent',
    hint: 'What an agent calls the platform with: its own things, and the agents it may call.',
    reaches: [
      'Its own agent: reads, runs, own schedules, reminders, reports, questions',
      'Agents it may call: reading, chats, tasks and the runs it started there',
    ],
    never: ['Settings, sharing, permissions and credentials', 'Keys and people'],
    ends: 'With its agent, or when the agent gets a new one.',
  },
  connector: {
    label: 'Connector',
    hint: 'Chats with one agent and runs the playbooks that were exposed.',
    reaches: ['Chats with its agent', 'Its exposed playbooks', 'The runs it started itself'],
    never: ['Other agents', 'Files, settings and runs of others'],
    ends: 'When it is revoked, or its agent is deleted.',
  },
  system: {
    label: 'System',
    hint: 'What the system agent runs the platform with.',
    reaches: ['Everything an admin may do'],
    never: ['Passwords and second factors', 'Answers to what agents ask'],
    ends: 'When the system agent is made anew.',
  },
}

/** The scopes that are given here; all but the first by an admin. */
export const requestableScopes = ['user', 'ops', 'portal_delegate'] as const
export type RequestableScope = (typeof requestableScopes)[number]

/** A key of everybody's own takes no end. */
export function mayExpire(scope: RequestableScope): boolean {
  return scope !== 'user'
}
