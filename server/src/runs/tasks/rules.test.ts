import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyScope } from '@roost/contracts/kit/access'
import type { KeyCaller, Reach, Relation, SignedIn } from '../../identity/access/caller.ts'
import { isFault } from '../../kit/fault.ts'
import { person } from '../../test/run-platform.ts'
import { joinRequest } from './conversation.ts'
import { mayName } from './rules.ts'

const key = (scope: KeyScope, agent_id: string | null = null): KeyCaller => ({
  kind: 'key',
  user: person().user,
  key: { id: `k-${scope}`, name: 'k', scope, agent_id },
})

/** The key of a run of a1. */
const run = (reach: Reach, principal: string): KeyCaller => {
  const of = key('agent', 'a1')
  return { ...of, key: { ...of.key, id: 'k-run', principal }, run: { ref: 'r', execution_id: 'e', reach } }
}

test('which callers may name a run as a parent', () => {
  const foreign = { agent_id: 'a9', principal: 'user:u9', source_user_id: 'u9', source_mcp_key_id: null }
  const sibling = { ...foreign, agent_id: 'a1' }
  const own = { ...foreign, source_user_id: 'u1' }
  const cases: [SignedIn, Relation, typeof foreign, boolean][] = [
    [person(), 'shared', sibling, true],
    [person(), 'shared', own, true],
    [person(), 'shared', foreign, false],
    [person({ role: 'admin' }), 'admin', foreign, true],
    [key('user'), 'owner', own, true],
    [key('user'), 'owner', foreign, false],
    [key('system'), 'admin', foreign, true],
    // An agent key has its owner's name but not the owner's access.
    [key('agent', 'a9'), 'permitted', foreign, true],
    [key('agent', 'a2'), 'permitted', own, false],
    [key('agent', 'a2'), 'permitted', sibling, false],
    [key('agent', 'a1'), 'self', sibling, true],
    [run('owner', 'user:u1'), 'self', sibling, true],
    [run('shared', 'user:u9'), 'shared', sibling, true],
    [run('shared', 'user:u2'), 'shared', sibling, false],
    [run('guest', 'public:u9'), 'guest', sibling, false],
  ]
  for (const [caller, relation, parent, expected] of cases) {
    const found = mayName({ caller, agentId: 'a1', relation }, parent)
    assert.equal(found, expected, JSON.stringify([caller, relation, parent]))
  }
  const started = { agent_id: 'a9', principal: null, source_user_id: null, source_mcp_key_id: 'k-agent' }
  assert.equal(mayName({ caller: key('agent', 'a2'), agentId: 'a1', relation: 'permitted' }, started), true)
})

test('how a task relates to a conversation', () => {
  const none = { save_to_session: false, inject_result: false, session_id: null }
  const named = { ...none, session_id: 's1' }
  assert.equal(joinRequest(none, false), null)
  assert.deepEqual(joinRequest(named, false), { sessionId: 's1', keeps: 'nothing', isSelfTask: false })
  assert.equal(joinRequest({ ...none, save_to_session: true }, false)?.keeps, 'turn')
  assert.equal(joinRequest({ ...named, inject_result: true }, true)?.keeps, 'result')
  assert.equal(joinRequest({ ...named, inject_result: true, save_to_session: true }, true)?.keeps, 'turn')
  for (const [body, isSelfTask] of [
    [{ ...named, inject_result: true }, false],
    [{ ...none, inject_result: true }, true],
  ] as const) {
    assert.throws(
      () => joinRequest(body, isSelfTask),
      (error) => isFault(error, 'validation_error'),
    )
  }
})
