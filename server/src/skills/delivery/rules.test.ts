import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliveryOf, planDelivery, removalOf } from './rules.ts'

const has = (name: string, version: string | null = 'v1') => ({ name, managed: true, version })
const plan = (over: Partial<Parameters<typeof planDelivery>[0]>) =>
  planDelivery({ present: [], desired: [], stale: new Set(), released: new Set(), force: false, ...over })

test('a present version is left, others and incomplete ones are sent, and the agent’s own folders stay', () => {
  const present = [
    has('same'),
    has('old', 'v0'),
    has('torn', null),
    { name: 'own', managed: false, version: null },
  ]
  const desired = ['same', 'old', 'torn', 'own', 'new'].map((name) => ({ name, version: 'v1' }))
  const found = plan({ present, desired })
  assert.deepEqual(found, {
    install: ['old', 'torn', 'new'],
    unchanged: ['same'],
    conflict: ['own'],
    remove: [],
    refused: [],
  })
  assert.deepEqual(plan({ present, desired, force: true }).install, ['same', 'old', 'torn', 'new'])
})

test('unassigned skills are removed; assigned skills without a source stay', () => {
  const found = plan({ present: [has('old'), has('stale')], stale: new Set(['stale']) })
  assert.deepEqual(found.remove, ['old'])
})

test('unexpected removals of more than five and more than half are refused, requested ones are not', () => {
  const present = Array.from({ length: 10 }, (_, index) => has(`s${index}`))
  const keep = (count: number) => present.slice(0, count).map(({ name }) => ({ name, version: 'v1' }))
  assert.equal(plan({ present, desired: keep(5) }).remove.length, 5)
  const refused = plan({ present, desired: keep(4) })
  assert.deepEqual([refused.remove.length, refused.refused.length], [0, 6])
  const released = new Set(present.map(({ name }) => name))
  assert.equal(plan({ present, released }).remove.length, 10)
  assert.equal(plan({ present, released: new Set(['s9']) }).remove.join(), 's9')
})

test('a delivery is complete when all added skills are present', () => {
  const result = (status: 'injected' | 'failed' | 'unchanged') => ({
    status,
    version: null,
    warnings: [],
    error: null,
  })
  assert.equal(deliveryOf({ a: result('injected'), b: result('unchanged') }, ['a', 'b']).status, 'injected')
  const partly = deliveryOf({ a: result('injected'), b: result('failed'), c: result('failed') }, ['a', 'b'])
  assert.deepEqual(
    [partly.status, partly.reason, partly.skills_injected, partly.skills_failed, Object.keys(partly.results)],
    ['not_delivered', 'install_failed', 1, 1, ['a', 'b']],
  )
  assert.equal(deliveryOf({}, ['a']).status, 'not_delivered')
  const lost = deliveryOf({}, ['a'], ['a', 'b'])
  assert.deepEqual([lost.status, lost.skills_failed, Object.keys(lost.results)], ['not_delivered', 1, ['a']])
  assert.match(lost.results.a?.error ?? '', /library has no skill/)
})

test('a removal is partial when a skill stays', () => {
  const done = removalOf({ a: { status: 'removed', error: null }, b: { status: 'failed', error: 'x' } }, [
    'a',
    'b',
    'c',
  ])
  assert.deepEqual(
    [done.status, done.skills_removed, done.skills_failed, done.skills],
    ['partial', 2, 1, ['b']],
  )
})
