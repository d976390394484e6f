import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliveryOf, planDelivery, removalOf } from './rules.ts'

const has = (name: string, version: string | null = 'v1') => ({ name, managed: true, version })
const plan = (over: Partial<Parameters<typeof planDelivery>[0]>) =>
  planDelivery({ present: [], wanted: [], kept: new Set(), released: new Set(), force: false, ...over })

test('what has the version is left, what has another or lacks files is sent, and the agent’s own is not touched', () => {
  const present = [
    has('same'),
    has('old', 'v0'),
    has('torn', null),
    { name: 'own', managed: false, version: null },
  ]
  const wanted = ['same', 'old', 'torn', 'own', 'new'].map((name) => ({ name, version: 'v1' }))
  const found = plan({ present, wanted })
  assert.deepEqual(found, {
    install: ['old', 'torn', 'new'],
    unchanged: ['same'],
    conflict: ['own'],
    remove: [],
    refused: [],
  })
  assert.deepEqual(plan({ present, wanted, force: true }).install, ['same', 'old', 'torn', 'new'])
})

test('what is assigned no more goes; what no source has any more stays while it is assigned', () => {
  const found = plan({ present: [has('gone'), has('stale')], kept: new Set(['stale']) })
  assert.deepEqual(found.remove, ['gone'])
})

test('more than five and more than half at once are refused, unless somebody has taken them away', () => {
  const present = Array.from({ length: 10 }, (_, index) => has(`s${index}`))
  const keep = (count: number) => present.slice(0, count).map(({ name }) => ({ name, version: 'v1' }))
  assert.equal(plan({ present, wanted: keep(5) }).remove.length, 5)
  const refused = plan({ present, wanted: keep(4) })
  assert.deepEqual([refused.remove.length, refused.refused.length], [0, 6])
  const released = new Set(present.map(({ name }) => name))
  assert.equal(plan({ present, released }).remove.length, 10)
  assert.equal(plan({ present, released: new Set(['s9']) }).remove.join(), 's9')
})

test('a delivery is whole when all that was added is there', () => {
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

test('a removal is partial when something stays', () => {
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
