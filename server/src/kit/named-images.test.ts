import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namedImage, namedImages } from './named-images.ts'

const digest = `sha256:${'0f'.repeat(32)}`

test('one name is the image of every runtime, with the runtime in it', () => {
  assert.equal(namedImages('reg/agent:{runtime}-1'), null)
  assert.equal(namedImage('reg/agent:{runtime}-1', 'codex'), 'reg/agent:codex-1')
  assert.equal(namedImage(`reg/agent@${digest}`, 'codex'), `reg/agent@${digest}`)
})

test('a list has an image for each runtime', () => {
  const list = `claude-code=reg:5000/a@${digest}, codex=b:1`
  assert.equal(namedImage(list, 'claude-code'), `reg:5000/a@${digest}`)
  assert.equal(namedImage(list, 'codex'), 'b:1')
  assert.equal(namedImage(list, 'gemini-cli'), '')
})
