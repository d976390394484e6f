import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { unknownKeys } from './unknown-keys.ts'

const point = z.object({ x: z.number(), y: z.number().optional() })
const found = (schema: z.ZodType, value: unknown) =>
  unknownKeys(schema, value).map(({ path, key }) => [...path, key].join('.'))

const cases: [string, z.ZodType, unknown, string[]][] = [
  ['nothing unknown', point, { x: 1, y: 2 }, []],
  ['a key of the object itself', point, { x: 1, z: 3 }, ['z']],
  ['an inherited name is unknown', point, { x: 1, constructor: 1 }, ['constructor']],
  ['inside a list', z.array(point), [{ x: 1 }, { x: 2, q: 1 }], ['1.q']],
  ['inside a record', z.record(z.string(), point), { a: { x: 1, q: 1 } }, ['a.q']],
  [
    'behind nullish, default and transform',
    z.object({ p: point.nullish().default(null) }),
    { p: { q: 1 } },
    ['p.q'],
  ],
  ['before a transform', point.transform(({ x }) => x), { x: 1, q: 1 }, ['q']],
  ['in a loose object', z.looseObject({ a: z.string() }), { a: 'x', b: 1 }, ['b']],
  ['a record takes any key', z.record(z.string(), z.unknown()), { a: 1, b: { c: 1 } }, []],
  ['text where a union also has an object', z.union([z.string(), point]), 'x', []],
  ['the object of a union', z.union([z.string(), point]), { x: 1, q: 1 }, ['q']],
  [
    'known to one option of a union',
    z.union([point, z.object({ q: z.number() })]),
    { x: 1, q: 1, r: 1 },
    ['r'],
  ],
  ['a value of another kind', point, [1, 2], []],
]
for (const [title, schema, value, expected] of cases) {
  test(`unknown keys: ${title}`, () => assert.deepEqual(found(schema, value), expected))
}

test('unknown keys: the result lists the known names of that path', () => {
  const [unknown] = unknownKeys(z.object({ at: point }), { at: { q: 1 } })
  assert.deepEqual(unknown, { path: ['at'], key: 'q', known: ['x', 'y'] })
})
