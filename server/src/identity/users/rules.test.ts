import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowListSources } from '@roost/contracts/identity/allow-list'
import { admits } from './rules.ts'

const email = 'ann@example.com'

test('an address that is not listed is not admitted', () => {
  for (const holder of [null, { username: email }, { username: 'admin' }])
    assert.equal(admits(null, email, holder), false)
})

test('a listed address opens a new account and the account whose user name it is', () => {
  for (const source of allowListSources)
    for (const holder of [null, { username: email }]) assert.equal(admits({ source }, email, holder), true)
})

test('an address registered without proof opens its account only if an admin listed it', () => {
  const opens = allowListSources.filter((source) => admits({ source }, email, { username: 'admin' }))
  assert.deepEqual(opens, ['manual', 'cli'])
})
