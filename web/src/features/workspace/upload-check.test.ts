import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxFileWriteBytes } from '@roost/contracts/agents/workspace'
import { checkUploads } from './upload-check.ts'

const offered = (name: string, ...parts: (string | Uint8Array<ArrayBuffer>)[]) => new File(parts, name)

test('text is uploaded unchanged into the shown folder', async () => {
  const { uploads, refusals } = await checkUploads([offered('a.md', 'é\r\n')], 'docs')
  assert.deepEqual(uploads, [{ path: 'docs/a.md', name: 'a.md', text: 'é\r\n' }])
  assert.deepEqual(refusals, [])
})

test('refused files are listed with a reason', async () => {
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
  for (const [index, words] of ['5 MB', 'not UTF-8 text', 'protected', 'folder'].entries())
    assert.match(refusals[index] ?? '', new RegExp(words))
})
