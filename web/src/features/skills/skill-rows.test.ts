import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Skill } from '@roost/contracts/skills/library'
import { filterSkills, skillRows } from './skill-rows.ts'

const skill = (name: string, shadowed_by: string[] = []): Skill => ({
  name,
  description: `Does ${name}`,
  source: 'lib',
  source_name: 'lib',
  source_id: '1',
  shadowed_by,
  path: `skills/${name}`,
  version: 'a'.repeat(40),
  automation: null,
  user_invocable: true,
  allowed_tools: [],
  argument_hint: null,
  requires: { packages: [], binaries: [], env: [] },
  multi_file: false,
  file_count: 1,
  size_bytes: 10,
})
const scout = { name: 'scout', label: null }
const rows = skillRows([skill('beta', ['community']), skill('alpha')], { beta: [scout], gone: [scout] })
const names = (filter: Parameters<typeof filterSkills>[1]) =>
  filterSkills(rows, filter).map(({ name }) => name)

test('an assigned skill without a source is stale', () => {
  assert.deepEqual(
    rows.map(({ name, skill, holders }) => [name, skill === null, holders.length]),
    [
      ['alpha', false, 0],
      ['beta', false, 1],
      ['gone', true, 1],
    ],
  )
})

test('filters by words, source and usage', () => {
  assert.deepEqual(names({ q: 'does BETA' }), ['beta'])
  assert.deepEqual(names({ source: 'lib' }), ['alpha', 'beta'])
  assert.deepEqual(names({ held: 'held' }), ['beta', 'gone'])
  assert.deepEqual(names({ held: 'stale' }), ['gone'])
  assert.deepEqual(names({ held: 'shadowing' }), ['beta'])
})
