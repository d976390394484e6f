/** Who may call: the columns of the table of access. */
import type { KeyScope, Role } from '@roost/contracts/kit/access'
import type { Caller, Relation, SignedIn } from '../../server/src/identity/access/index.ts'

export type Kind = {
  id: string
  /** What the page says of it. */
  words: string
  caller: Caller | 'refused'
  /** To the agent of the path; `unpermitted`: an agent key without an edge to another agent of its owner. */
  relation: Relation | 'unpermitted' | null
}

/** Every one of these is presented wherever the table says `refused`. */
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
  { id: 'nobody', words: 'sends no credential', caller: { kind: 'anonymous' }, relation: null },
  {
    id: 'refused',
    words: `sends what is no credential (any more): ${refusedCredentials.join(', ')}`,
    caller: 'refused',
    relation: null,
  },
  {
    id: 'stranger',
    words:
      'signed in, role `user`, no access to the agent; a demoted admin and a person no longer shared with are the same',
    caller: session('user'),
    relation: null,
  },
  {
    id: 'shared',
    words: 'role `user`, the agent is shared with this person',
    caller: session('user'),
    relation: 'shared',
  },
  { id: 'owner', words: 'role `creator`, owns the agent', caller: session('creator'), relation: 'owner' },
  {
    id: 'demoted owner',
    words: 'owns the agent, and has the role `user` since',
    caller: session('user'),
    relation: 'owner',
  },
  { id: 'admin', words: 'role `admin`, does not own the agent', caller: session('admin'), relation: 'admin' },
  {
    id: 'user key',
    words: "the owner's key of scope `user`",
    caller: key('user', 'creator'),
    relation: 'owner',
  },
  { id: 'agent key', words: "the agent's own key", caller: key('agent', 'creator'), relation: 'self' },
  {
    id: 'permitted agent',
    words: 'the key of another agent, which may call this one',
    caller: key('agent', 'creator'),
    relation: 'permitted',
  },
  {
    id: 'other agent',
    words: 'the key of another agent of the same owner, which may not call this one',
    caller: key('agent', 'creator'),
    relation: 'unpermitted',
  },
  { id: 'system key', words: 'scope `system`', caller: key('system', 'admin'), relation: 'admin' },
  { id: 'ops key', words: 'scope `ops`, of an admin', caller: key('ops', 'admin'), relation: 'admin' },
  {
    id: 'portal key',
    words: 'scope `portal_delegate`, of an admin',
    caller: key('portal_delegate', 'admin'),
    relation: 'admin',
  },
  {
    id: 'connector key',
    words: 'scope `connector`, bound to the agent',
    caller: key('connector', 'creator'),
    relation: 'shared',
  },
  {
    id: 'other connector',
    words: 'scope `connector`, bound to another agent of the same owner',
    caller: key('connector', 'creator'),
    relation: null,
  },
]

function session(role: Role): SignedIn {
  const user = { id: role, username: role, email: null, role }
  return { kind: 'session', user, session: { jti: role, mode: 'email', expires_at: '' } }
}

function key(scope: KeyScope, role: Role): SignedIn {
  const user = { id: role, username: role, email: null, role }
  return { kind: 'key', user, key: { id: scope, name: scope, scope, agent_id: null } }
}
