/** Two people work with one agent at the same time, in its workspace and with git, through a real CLI. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Principal } from '@roost/contracts/link/runs'
import { openTwoPeople, owner, writer } from './two-people.ts'

/** Few keep the test short; `ROOST_TEST_TURNS=100` makes 200 together. */
const turnsEach = Number(process.env.ROOST_TEST_TURNS ?? 10)

/** Edits in place, by renaming and by copying; the lock keeps git's own lock out of the picture. */
const edit = [
  'flock lock sh -ec "read n < counter',
  'expr \\$n + 1 > counter',
  'cp -p counter copy; mv copy counter',
  'mkdir -p work/\\$n; echo \\$n > work/\\$n/note; chmod 600 work/\\$n/note',
  '[ \\$n = 0 ] || rm -rf work/\\$(expr \\$n - 1)',
  'git add counter work; git commit -qm turn; echo edited" 2>&1',
].join('; ')

test('interleaved turns of two people: all edits succeed, and no home opens', {
  timeout: 10 * 60_000,
}, async () => {
  await using scene = await openTwoPeople('claude-code')
  const start =
    'git init -q -b main; git config user.name x; git config user.email x@example.com; echo 0 > counter'
  await scene.turn(owner, `${start}; git add counter; git commit -qm first; echo made`)

  const home = (await scene.turn(writer, 'echo secret > $HOME/own-note; echo $HOME')).trim()
  const intrusion = `ls ${home} && echo listed; cat ${home}/own-note; touch ${home}/x && echo wrote`

  async function converse(person: Principal): Promise<void> {
    const session_id = `conversation of ${person.id}`
    let resume_session_id: string | null = null
    for (let turn = 0; turn < turnsEach; turn += 1) {
      const script = person === owner ? `${edit}; (${intrusion}) 2>/dev/null; true` : edit
      const message = `[[tool:Bash:${script}]]`
      const ended = await scene.result(person, message, { kind: 'chat', session_id, resume_session_id })
      assert.equal(ended.status, 'success', String(ended.error))
      assert.equal(ended.response?.trim(), 'tool-result: edited', `${person.id}, turn ${turn}`)
      resume_session_id = ended.runtime_session_id
    }
  }
  await Promise.all([converse(owner), converse(writer)])

  const state = await scene.turn(
    owner,
    'cat counter; git rev-list --count HEAD; git fsck 2>&1; git status --short counter',
  )
  assert.equal(state.trim(), `${2 * turnsEach}\n${2 * turnsEach + 1}`)
})
