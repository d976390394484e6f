import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { createRunKeyText } from './text.ts'

const macOf = (key: string) => (text: string) =>
  createHash('sha256')
    .update(key + text)
    .digest('base64url')

test('a key of a turn that ran while the installation key was rotated is read, with its binding', () => {
  const before = createRunKeyText(macOf('old'))
  const ref = {
    kind: 'execution' as const,
    id: 'run-1',
    agentId: 'agent-1',
    binding: before.binding('key', 'user'),
  }
  const text = before.write(ref)
  const after = createRunKeyText(macOf('new'), (each) => [macOf('old')(each)])
  assert.deepEqual(after.read(text), ref)
  assert.ok(after.isBinding(ref.binding, 'key', 'user'))
  assert.ok(!after.isBinding(ref.binding, 'key', 'another'))
  assert.notEqual(after.binding('key', 'user'), ref.binding)
  const later = createRunKeyText(macOf('new'))
  assert.equal(later.read(text), null)
  assert.ok(!later.isBinding(ref.binding, 'key', 'user'))
})
