import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { refusalOfSystem } from './system-refusal.ts'

test('what the system refuses is told with the place and what to do, anything else is not taken for it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-refusal-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'a file')
  await writeFile(file, '')
  const error = await writeFile(join(file, 'below'), '').catch((thrown: unknown) => thrown)
  const words = refusalOfSystem(error) ?? ''
  assert.ok(words.startsWith(`${join(file, 'below')}: `), words)
  assert.match(words, /a file where a folder should be/)
  const full = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' })
  assert.match(refusalOfSystem(full) ?? '', /^Cannot write: the disk is full/)
  for (const other of [new Error('no'), new TypeError('fetch failed'), 'text', null])
    assert.equal(refusalOfSystem(other), null)
  assert.equal(refusalOfSystem(await readFile(join(folder, 'none')).catch((thrown: unknown) => thrown)), null)
})
