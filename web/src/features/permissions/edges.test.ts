import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callersOf, edgeId, edgeSet, rowOf, withChoice, withEdge } from './edges.ts'

const agent = (name: string, permitted: boolean) => ({
  name,
  status: 'running' as const,
  type: 'business-assistant',
  permitted,
})
const permissions = {
  source_agent: 'scout',
  permitted_agents: [agent('writer', true), agent('hidden', true)],
  available_agents: [agent('writer', true), agent('archive', false), agent('scout', false)],
}

test('a row has every other agent once, including permitted agents that are not accessible', () => {
  const names = rowOf(permissions).map(({ name, permitted }) => [name, permitted])
  assert.deepEqual(names, [
    ['archive', false],
    ['hidden', true],
    ['writer', true],
  ])
})

test('a choice replaces the row', () => {
  const chosen = withChoice(permissions, new Set(['archive']))
  assert.deepEqual(
    chosen.permitted_agents.map(({ name }) => name),
    ['archive'],
  )
  assert.equal(rowOf(chosen).find(({ name }) => name === 'writer')?.permitted, false)
})

test('edges are found, added and removed without duplicates', () => {
  const one = { source: 'scout', target: 'writer' }
  const twice = withEdge([one], one, true)
  assert.deepEqual(twice, [one])
  assert.ok(edgeSet(twice).has(edgeId('scout', 'writer')))
  assert.deepEqual(withEdge(twice, one, false), [])
  assert.deepEqual(callersOf([one, { source: 'archive', target: 'writer' }], 'writer'), ['archive', 'scout'])
})
