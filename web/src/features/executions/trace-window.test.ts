import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Span } from './trace.ts'
import { bucketsOf, dragged, panned, placeIn, rowsOf, ticksOf, zoomed } from './trace-window.ts'

const span = (id: string, startMs: number, durationMs: number, over: Partial<Span> = {}): Span => ({
  ...{
    id,
    kind: 'tool',
    label: id,
    summary: '',
    state: 'done',
    startMs,
    durationMs,
    line: null,
    children: [],
  },
  ...over,
})
const lengthMs = 1000

test('zooming keeps the centre in place, within the axis', () => {
  const whole = { from: 0, to: 1000 }
  assert.deepEqual(zoomed(whole, { factor: 0.5, lengthMs }), { from: 250, to: 750 })
  assert.deepEqual(zoomed(whole, { factor: 0.5, centre: 100, lengthMs }), { from: 50, to: 550 })
  assert.deepEqual(zoomed({ from: 0, to: 100 }, { factor: 2, centre: 50, lengthMs }), { from: 0, to: 200 })
  assert.equal(zoomed({ from: 250, to: 750 }, { factor: 2, lengthMs }), null, 'the whole axis')
  assert.deepEqual(zoomed({ from: 500, to: 512 }, { factor: 0.5, lengthMs }), { from: 501, to: 511 })
})

test('panning stops at both ends', () => {
  assert.deepEqual(panned({ from: 100, to: 300 }, 0.5, lengthMs), { from: 200, to: 400 })
  assert.deepEqual(panned({ from: 50, to: 250 }, -0.5, lengthMs), { from: 0, to: 200 })
  assert.deepEqual(panned({ from: 700, to: 900 }, 1, lengthMs), { from: 800, to: 1000 })
})

test('a drag selects a part in both directions, and a click none', () => {
  assert.deepEqual(dragged(600, 200, lengthMs), { from: 200, to: 600 })
  assert.equal(dragged(200, 205, lengthMs), null)
})

test('ticks are round times within the window', () => {
  assert.deepEqual(ticksOf({ from: 0, to: 1000 }), [0, 200, 400, 600, 800, 1000])
  assert.deepEqual(ticksOf({ from: 1500, to: 9000 }, 4), [2000, 4000, 6000, 8000])
  assert.deepEqual(ticksOf({ from: 0, to: 7_200_000 }, 4), [0, 1_800_000, 3_600_000, 5_400_000, 7_200_000])
  assert.ok(ticksOf({ from: 0, to: 30 * 86_400_000 }, 4).length <= 5)
})

test('rows are the open spans that touch the window, with their position among the shown siblings', () => {
  const inner = span('inner', 300, 100)
  const tree = [span('early', 0, 100), span('outer', 250, 500, { children: [inner] }), span('late', 900, 50)]
  const rows = (window: { from: number; to: number } | null, closed: string[] = []) =>
    rowsOf(tree, {
      window,
      isOpen: ({ id }) => !closed.includes(id),
      childrenOf: ({ children }) => children,
    }).map(({ span: { id }, depth, parent, position, size }) => [id, depth, parent, position, size])
  assert.deepEqual(rows(null), [
    ['early', 0, null, 1, 3],
    ['outer', 0, null, 2, 3],
    ['inner', 1, 'outer', 1, 1],
    ['late', 0, null, 3, 3],
  ])
  assert.deepEqual(rows({ from: 500, to: 950 }), [
    ['outer', 0, null, 1, 2],
    ['late', 0, null, 2, 2],
  ])
  assert.deepEqual(rows(null, ['outer']).length, 3)
})

test('bars are clipped at the edges of the window', () => {
  assert.deepEqual(placeIn(span('a', 100, 400), { from: 200, to: 600 }), { left: '0%', width: '75%' })
  assert.deepEqual(placeIn(span('a', 900, 10), { from: 200, to: 600 }), { left: '100%', width: '0%' })
})

test('the overview shows failures before tools before model calls', () => {
  const spans = [
    span('m', 0, 499, { kind: 'model' }),
    span('t', 250, 200, { children: [span('f', 300, 10, { state: 'failed' })] }),
  ]
  assert.deepEqual(bucketsOf(spans, lengthMs, 4), ['model', 'failed', null, null])
  assert.deepEqual(bucketsOf(spans, lengthMs, 10).slice(2, 5), ['tool', 'failed', 'tool'])
})
