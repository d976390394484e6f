/** The kinds of callers: the columns of the access table. */
import type { KeyScope, Role } from '@roost/contracts/kit/access'
import type { Caller, Reach, Relation, SignedIn } from '../../server/src/identity/access/index.ts'

export type Kind = {
  id: string
  /** The description on the page. */
  description: string
  caller: Caller | 'refused' | 'ended run'
  /**
   * Relation to the agent in the path; `unpermitted`: an agent key without permission to call another agent of its
   * owner.
   */
  relation: Relation | 'unpermitted' | null
  /** The agent is shared for reading. */
  isReader?: true
}

/** Each of these is sent wherever the table says `refused`. */
export const refusedCredentials = [
  'random text',
  'expired session',
  'session after logout',
  'session of a suspended person',
  'session of a deleted account',
  'session of another boot',
  'second-factor challenge',
  'socket ticket',
  'revoked key',
  'expired key',
  'key of a suspended person',
  'ops key of a demoted admin',
] as const
export type RefusedCredential = (typeof refusedCredentials)[number]

export const kinds: readonly Kind[] = [
  { id: 'nobody', description: 'sends no credential', caller: { kind: 'anonymous' }, relation: null },
  {
    id: 'refused',
    description: `sends an invalid credential: ${refusedCredentials.join(', ')}`,
    caller: 'refused',
    relation: null,
  },
  {
    id: 'stranger',
    description:
      'signed in, role `user`, no access to the agent; the same for a demoted admin and after the end of a share',
    caller: session('user'),
    relation: null,
  },
  {
    id: 'shared',
    description: 'role `user`, the agent is shared with this person',
    caller: session('user'),
    relation: 'shared',
  },
  {
    id: 'reader',
    description: 'role `user`, the agent is shared with this person with the access `read`',
    caller: session('user'),
    relation: 'shared',
    isReader: true,
  },
  {
    id: 'owner',
    description: 'role `creator`, owns the agent',
    caller: session('creator'),
    relation: 'owner',
  },
  {
    id: 'demoted owner',
    description: 'owns the agent, later demoted to the role `user`',
    caller: session('user'),
    relation: 'owner',
  },
  {
    id: 'admin',
    description: 'role `admin`, does not own the agent',
    caller: session('admin'),
    relation: 'admin',
  },
  {
    id: 'user key',
    description: "the owner's key of scope `user`",
    caller: key('user', 'creator'),
    relation: 'owner',
  },
  { id: 'agent key', description: "the agent's own key", caller: key('agent', 'creator'), relation: 'self' },
  {
    id: 'permitted agent',
    description: 'the key of another agent with permission to call this one',
    caller: key('agent', 'creator'),
    relation: 'permitted',
  },
  {
    id: 'other agent',
    description: 'the key of another agent of the same owner, without permission to call this one',
    caller: key('agent', 'creator'),
    relation: 'unpermitted',
  },
  {
    id: 'owner run',
    description: "the key of a running turn of the agent's owner",
    caller: runKey('owner', 'creator'),
    relation: 'self',
  },
  {
    id: 'shared run',
    description: 'the key of a running turn of a person that the agent is shared with for writing',
    caller: runKey('shared', 'user'),
    relation: 'shared',
  },
  {
    id: 'guest run',
    description:
      'the key of a running turn of a stranger, or of a person that the agent is shared with for reading',
    caller: runKey('guest', 'user'),
    relation: 'guest',
  },
  {
    id: 'foreign run',
    description: "the key of a running turn of another person's agent, for that person",
    caller: runKey('owner', 'creator'),
    relation: null,
  },
  {
    id: 'foreign guest',
    description: "the key of a running turn of another person's agent, for a visitor of its public link",
    caller: runKey('guest', 'creator'),
    relation: null,
  },
  {
    id: 'ended run',
    description:
      'the key of a turn that has ended: terminated, with the share of its person, or with its public link',
    caller: 'ended run',
    relation: null,
  },
  { id: 'system key', description: 'scope `system`', caller: key('system', 'admin'), relation: 'admin' },
  { id: 'ops key', description: 'scope `ops`, of an admin', caller: key('ops', 'admin'), relation: 'admin' },
  {
    id: 'portal key',
    description: 'scope `portal_delegate`, of an admin',
    caller: key('portal_delegate', 'admin'),
    relation: 'admin',
  },
  {
    id: 'connector key',
    description: 'scope `connector`, bound to the agent',
    caller: key('connector', 'creator'),
    relation: 'shared',
  },
  {
    id: 'other connector',
    description: 'scope `connector`, bound to another agent of the same owner',
    caller: key('connector', 'creator'),
    relation: null,
  },
]

function session(role: Role): SignedIn {
  const user = { id: role, username: role, email: null, role }
  return { kind: 'session', user, session: { jti: role, mode: 'email', expires_at: '' } }
}

function runKey(reach: Reach, role: Role): SignedIn {
  const user = { id: role, username: role, email: null, role }
  const run = { ref: 'run', execution_id: 'run', reach }
  return { kind: 'key', user, key: { id: 'run', name: 'run', scope: 'agent', agent_id: null }, run }
}

function key(scope: KeyScope, role: Role): SignedIn {
  const user = { id: role, username: role, email: null, role }
  return { kind: 'key', user, key: { id: scope, name: scope, scope, agent_id: null } }
}
