import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kpisOf, markdownOf, tableOf, textOf, timelineOf } from './shapes.ts'

test('a table is a list of objects, a list of lists with a header, or columns and rows', () => {
  const expected = {
    columns: ['name', 'runs'],
    rows: [
      ['scout', 3],
      ['writer', undefined],
    ],
  }
  assert.deepEqual(tableOf([{ name: 'scout', runs: 3 }, { name: 'writer' }]), expected)
  assert.deepEqual(
    tableOf([
      ['name', 'runs'],
      ['scout', 3],
    ])?.rows,
    [['scout', 3]],
  )
  const columns = [{ key: 'name', label: 'Agent' }, 'runs']
  assert.deepEqual(tableOf({ columns, rows: [{ name: 'scout', runs: 3 }] })?.columns, ['name', 'runs'])
  assert.deepEqual(tableOf({ columns: ['a'], rows: [] }), { columns: ['a'], rows: [] })
})

test('other values are not a table', () => {
  for (const payload of ['text', null, 7, [], [1, 2], [[1], { a: 1 }], { rows: 'none' }, [{}]])
    assert.equal(tableOf(payload), null, JSON.stringify(payload))
  const wide = Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`c${index}`, index]))
  assert.equal(tableOf([wide]), null)
})

test('figures have a label, a value with its unit, and a hint', () => {
  assert.deepEqual(kpisOf({ open_tickets: 1234.5, cost: { value: 2, unit: 'USD', change: '+5 %' } }), [
    { label: 'Open tickets', value: '1,234.5', hint: null },
    { label: 'Cost', value: '2 USD', hint: '+5 %' },
  ])
  assert.deepEqual(kpisOf({ kpis: [{ label: 'Runs', value: 'none' }] }), [
    { label: 'Runs', value: 'none', hint: null },
  ])
  for (const payload of [{}, [], 'text', { a: [1] }, [{ value: 1 }], [3]]) assert.equal(kpisOf(payload), null)
})

test('a timeline keeps its order and needs a text in each entry', () => {
  assert.deepEqual(
    timelineOf({ events: [{ at: '2026-01-01', title: 'Begun' }, { description: 'Went on' }] }),
    [
      { at: '2026-01-01', title: 'Begun', text: null },
      { at: null, title: 'Went on', text: null },
    ],
  )
  for (const payload of [[], [{ at: '2026-01-01' }], 'text', {}]) assert.equal(timelineOf(payload), null)
})

test('Markdown is text or an object with text; cells are text', () => {
  assert.equal(markdownOf('# A'), '# A')
  assert.equal(markdownOf({ markdown: '# B' }), '# B')
  assert.equal(markdownOf([1]), null)
  assert.deepEqual(['a', null, 3, { b: 1 }].map(textOf), ['a', '', '3', '{"b":1}'])
})
