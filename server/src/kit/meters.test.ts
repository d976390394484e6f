import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCounter, createHistogram, gaugeText } from './meters.ts'

const definition = { type: 'counter', help: 'Help.', scope: 'process' } as const

test('a counter has one line per label values, with quotes, backslashes and line ends escaped', async () => {
  const counter = createCounter({ ...definition, name: 'c_total', labels: ['a', 'b'] })
  assert.equal(await counter.text(), '# HELP c_total Help.\n# TYPE c_total counter\n')
  counter.add(['x', 'y"\\\n'])
  counter.add(['x', 'y"\\\n'], 2)
  counter.add(['xy', '"\\\n'])
  assert.deepEqual((await counter.text()).trim().split('\n').slice(2), [
    'c_total{a="x",b="y\\"\\\\\\n"} 3',
    'c_total{a="xy",b="\\"\\\\\\n"} 1',
  ])
})

test('the buckets of a histogram are cumulative and include their bound', async () => {
  const histogram = createHistogram({ ...definition, type: 'histogram', name: 'h', labels: [] }, [1, 2])
  for (const value of [1, 1.5, 7]) histogram.observe([], value)
  assert.deepEqual((await histogram.text()).trim().split('\n').slice(2), [
    'h_bucket{le="1"} 1',
    'h_bucket{le="2"} 2',
    'h_bucket{le="+Inf"} 3',
    'h_sum 9.5',
    'h_count 3',
  ])
})

test('a metric without samples has its head only', async () => {
  const text = await gaugeText({ ...definition, type: 'gauge', name: 'g', labels: [] }, [])
  assert.equal(text, '# HELP g Help.\n# TYPE g gauge\n')
})
