import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPrepared } from './postgres-prepared.ts'

test('a repeated text is prepared, one without parameters never', () => {
  const prepared = createPrepared()
  assert.equal(prepared.nameOf('select $1', [1]), null)
  const name = prepared.nameOf('select $1', [2])
  assert.match(name ?? '', /^roost_\d+$/)
  assert.equal(prepared.nameOf('select $1', [3]), name)
  for (let time = 0; time < 3; time += 1) assert.equal(prepared.nameOf('commit', []), null)
})

test('unique texts do not displace others, and the number of names is limited', () => {
  const prepared = createPrepared()
  for (let time = 0; time < 5_000; time += 1) assert.equal(prepared.nameOf(`select $1 + ${time}`, [1]), null)
  let count = 0
  for (let time = 0; time < 1_000; time += 1) {
    prepared.nameOf(`select ${time}, $1`, [1])
    if (prepared.nameOf(`select ${time}, $1`, [1]) !== null) count += 1
  }
  assert.equal(count, 300)
})

test('a forgotten text is prepared under another name', () => {
  const prepared = createPrepared()
  const twice = () => [prepared.nameOf('select $1', [1]), prepared.nameOf('select $1', [1])][1]
  const before = twice()
  prepared.forget()
  const after = twice()
  assert.ok(before && after && before !== after)
})
