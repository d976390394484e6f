import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runRow } from '../../test/run-rows.ts'
import { describePrincipal } from './describe-principal.ts'

const accountName = async (id: string) => (id === 'u1' ? 'ann@example.com' : null)
const words = (over: Parameters<typeof runRow>[0]) => describePrincipal(runRow(over), accountName)

test('a principal in words: the account, the address, the connector, the agent or the way in', async () => {
  assert.equal(await words({ principal: 'user:u1' }), 'ann@example.com')
  assert.equal(await words({ principal: 'user:u2' }), 'a deleted account')
  assert.equal(await words({ principal: 'email:sam@example.com' }), 'sam@example.com')
  assert.equal(await words({ principal: 'key:k', source_mcp_key_name: 'laptop' }), 'the connector laptop')
  assert.equal(await words({ principal: 'agent:a1' }), 'the agent itself')
  assert.equal(await words({ principal: 'payer:0x1', triggered_by: 'paid' }), 'a payer')
  assert.equal(await words({ principal: 'slack:c:t', triggered_by: 'slack' }), 'people in a Slack thread')
  assert.equal(await words({ principal: null }), null)
})

test('the words name nobody beyond the source of the run', async () => {
  const called = await words({ principal: 'agent:a2/email:sam@example.com', source_agent_name: 'caller' })
  assert.equal(called, 'the agent caller')
  const visitor = { principal: 'public:l1:secret-id', triggered_by: 'public' } as const
  assert.equal(await words(visitor), 'a visitor of a public link')
  const known = { ...visitor, source_user_email: 'vic@example.com' }
  assert.equal(await words(known), 'the visitor vic@example.com of a public link')
})
