import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { openIdentity } from '../test/fixture.ts'
import { createGitTokens } from './index.ts'

forEachDialect((_name, open) => {
  test('a token belongs to one person, is stored encrypted, and can be replaced and deleted', async () => {
    await using db = await open()
    await using identity = await openIdentity(db)
    const { id: ann } = await identity.addUser()
    const { id: bob } = await identity.addUser()
    const clock = createTestClock()
    const tokens = createGitTokens({ db, clock, vault: createThrowawayVault(), hasGlobal: () => false })
    for (const text of ['ghp_first', 'ghp_second']) {
      await tokens.put(ann, text)
      assert.equal((await tokens.tokenOf(ann))?.reveal(), text)
    }
    assert.deepEqual([await tokens.isConfigured(ann), await tokens.isConfigured(bob)], [true, false])
    assert.equal(await tokens.tokenOf(bob), null)
    const rows = await db
      .withTables<{ git_tokens: Record<string, string> }>()
      .selectFrom('git_tokens')
      .selectAll()
      .execute()
    assert.ok(!JSON.stringify(rows).includes('ghp_'))
    await tokens.remove(ann)
    assert.equal(await tokens.tokenOf(ann), null)
  })
})
