import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseYaml, readYaml } from './yaml.ts'

test('content is read as the library reads it', () => {
  assert.deepEqual(parseYaml('a: 1\n"1": [x, {b: null}]\n1: y\n'), { a: 1, '1': 'y' })
  assert.equal(parseYaml(''), null)
})

test('repeated keys, aliases and syntax errors are refused', () => {
  for (const text of ['a: 1\nb: 2\na: 3', 'x:\n  - {k: 1, "k": 2}', 'a: &x 1\nb: *x', 'a: [1', 'a: {b'])
    assert.throws(() => parseYaml(text), text)
  const { errors } = readYaml('a: 1\nb: 2\na: 3')
  assert.deepEqual(
    errors.map(({ code, pos }) => [code, pos[0]]),
    [['DUPLICATE_KEY', 10]],
  )
})

test('a map may have very many keys', () => {
  const keys = Array.from({ length: 50_000 }, (_, index) => `k${index}`)
  assert.deepEqual(Object.keys(parseYaml(keys.map((key) => `${key}: 1`).join('\n')) as object), keys)
  assert.throws(() => parseYaml([...keys, 'k7'].map((key) => `${key}: 1`).join('\n')), /must be unique/)
})
