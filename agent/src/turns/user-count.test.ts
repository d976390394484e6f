import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUserCount } from './prepare.ts'

const user = { uid: 20_001 }

test('only the end of the last process of a user counts as the last one', () => {
  const users = createUserCount()
  users.began(user)
  users.began(user)
  users.began({ uid: 20_002 })
  assert.equal(users.ended(user), false)
  assert.equal(users.ended(user), true)
  users.began(user)
  assert.equal(users.ended(user), true)
})

test('a new process waits until leftovers are killed', async () => {
  const users = createUserCount()
  const killing = Promise.withResolvers<void>()
  const order: string[] = []
  const cleared = users.clear(killing.promise).then(() => order.push('killed'))
  const started = users.cleared().then(() => order.push('started'))
  killing.resolve()
  await Promise.all([cleared, started])
  assert.deepEqual(order, ['killed', 'started'])
  assert.deepEqual(await users.cleared(), [])
})
