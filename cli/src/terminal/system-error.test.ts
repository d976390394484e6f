import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemErrorMessage } from './system-error.ts'

test('file system errors name the path and the remedy; other errors give null', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-refusal-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'a file')
  await writeFile(file, '')
  const error = await writeFile(join(file, 'below'), '').catch((failure: unknown) => failure)
  const message = systemErrorMessage(error) ?? ''
  assert.ok(message.startsWith(`${join(file, 'below')}: `), message)
  assert.match(message, /a file is where a folder is expected/)
  const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' })
  assert.match(systemErrorMessage(full) ?? '', /^Cannot write: the disk is full/)
  for (const other of [new Error('no'), new TypeError('fetch failed'), 'text', null])
    assert.equal(systemErrorMessage(other), null)
  assert.equal(
    systemErrorMessage(await readFile(join(folder, 'none')).catch((failure: unknown) => failure)),
    null,
  )
})
