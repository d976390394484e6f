import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeAgentImages } from './fake.ts'
import { agentImagesSuite } from './suite.ts'

agentImagesSuite('fake', { open: async () => createFakeAgentImages({ ready: [] }), runtime: 'claude-code' })

test('a changed source changes every tag and makes no image ready', async () => {
  const images = createFakeAgentImages()
  const before = images.tagFor('codex')
  images.changeSource()
  assert.notDeepEqual(images.tagFor('codex'), before)
  assert.equal(await images.isReady('codex'), false)
})
