import type { KeyScope } from '@roost/contracts/kit/access'

export type ScopeWords = {
  label: string
  /** One sentence. */
  hint: string
  reaches: readonly string[]
  never: readonly string[]
  /** When a key of this scope ends. */
  ends: string
}

/** The permissions of each scope. */
export const scopeWords: Record<KeyScope, ScopeWords> = {
  user: {
    label: 'User',
    hint: 'Everything that its owner may do, except actions that require a signed-in person.',
    reaches: [
      'The agents of its owner: chats, tasks, files, schedules, settings',
      'All agents, if the owner is an admin',
    ],
    never: ['Passwords and second factors', 'Keys with the scopes ops and portal_delegate'],
    ends: 'The key does not expire. It is refused while its owner is suspended.',
  },
  ops: {
    label: 'Ops',
    hint: 'Read-only monitoring: fleet, health, runs, schedules and costs.',
    reaches: [
      'Status, health and costs of the fleet',
      'Runs with their logs and live streams',
      'Schedules, alerts, telemetry and the version',
    ],
    never: ['All write access', 'Files, chats and settings of agents', 'Users and keys'],
    ends: 'The key expires at its expiry date, if set. It is refused while its owner is not an admin.',
  },
  portal_delegate: {
    label: 'Portal delegate',
    hint: 'Exchanges an e-mail address for a Workspace session. Nothing else is allowed.',
    reaches: ['Exchanging an e-mail address for a Workspace session, for your own portal'],
    never: ['Everything else'],
    ends: 'The key expires at its expiry date, if set. It is refused while its owner is not an admin.',
  },
  agent: {
    label: 'Agent',
    hint: 'Used by an agent to call the platform: its own resources, and the agents it is permitted to call.',
    reaches: [
      'Its own agent: reading, runs, schedules, reminders, reports, questions',
      'Permitted agents: reading, chats, tasks and the runs it started there',
    ],
    never: ['Settings, sharing, permissions and credentials', 'Keys and users'],
    ends: 'The key ends with its agent, or when the agent gets a new key.',
  },
  connector: {
    label: 'Connector',
    hint: 'Chats with one agent and runs its exposed playbooks.',
    reaches: ['Chat with its agent', 'Its exposed playbooks', 'The runs it started itself'],
    never: ['Other agents', 'Files, settings and other runs'],
    ends: 'The key ends when it is revoked or its agent is deleted.',
  },
  system: {
    label: 'System',
    hint: 'Used by the system agent to operate the platform.',
    reaches: ['Everything an admin may do'],
    never: ['Passwords and second factors', 'Answers to questions of agents'],
    ends: 'The key ends when the system agent is recreated.',
  },
}

/** The scopes that users can create; all but the first require an admin. */
export const requestableScopes = ['user', 'ops', 'portal_delegate'] as const
export type RequestableScope = (typeof requestableScopes)[number]

/** Keys of the scope `user` never expire. */
export function mayExpire(scope: RequestableScope): boolean {
  return scope !== 'user'
}
