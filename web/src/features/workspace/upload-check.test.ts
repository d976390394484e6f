import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxFileWriteBytes } from '@roost/contracts/agents/workspace'
import { checkUploads } from './upload-check.ts'

const offered = (name: string, ...parts: (string | Uint8Array<ArrayBuffer>)[]) => new File(parts, name)

test('text is taken as it is, into the folder that is shown', async () => {
  const { uploads, refusals } = await checkUploads([offered('a.md', 'é\r\n')], 'docs')
  assert.deepEqual(uploads, [{ path: 'docs/a.md', name: 'a.md', text: 'é\r\n' }])
  assert.deepEqual(refusals, [])
})

test('what cannot be saved is named with its reason', async () => {
  const folder = { ...offered('dir'), name: 'dir', size: 0, arrayBuffer: () => Promise.reject(new Error()) }
  const files = [
    offered('big.txt', new Uint8Array(maxFileWriteBytes + 1)),
    offered('a.png', new Uint8Array([0x89, 0])),
    offered('.env', 'A=1'),
    folder,
    offered('fine.txt', ''),
  ]
  const { uploads, refusals } = await checkUploads(files, '')
  assert.deepEqual(
    uploads.map(({ path }) => path),
    ['fine.txt'],
  )
  for (const [index, words] of ['5 MB', 'not text', 'protected', 'folders'].entries())
    assert.match(refusals[index] ?? '', new RegExp(words))
})
