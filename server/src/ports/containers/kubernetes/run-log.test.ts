import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutKubeletNote } from './run-log.ts'

const id = 'e8881d8f3bda5f02ef93c8c0487c77289635259b119939088882afeda7b7a9ac'
const notFound = `rpc error: code = NotFound desc = an error occurred when try to find container "${id}": not found`

test('a sentence of the kubelet at the end is no line of the container', () => {
  const notes = [
    notFound,
    `unable to retrieve container logs for containerd://${id}`,
    'failed to try resolving symlinks in path "/var/log/pods/a_b/agent/0.log": lstat /var/log/pods/a_b: no such file or directory',
  ]
  for (const note of notes) {
    assert.equal(withoutKubeletNote(`one\nready\n${note}\n`), 'one\nready\n')
    assert.equal(withoutKubeletNote(note), '')
  }
})

test('the same words elsewhere stay', () => {
  for (const text of [`${notFound}\nready\n`, `seen: ${notFound}\n`, 'ready\n', ''])
    assert.equal(withoutKubeletNote(text), text)
})
