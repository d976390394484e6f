import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLogFile } from './log-file.ts'

test('a log keeps its last three parts, the newest without a number', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-log-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'logs', 'api.log')
  const log = openLogFile(path, 4)
  for (const part of ['one\n', 'two\n', 'abc\n', 'end\n']) log.write(part)
  assert.deepEqual((await readdir(join(folder, 'logs'))).sort(), ['api.log', 'api.log.1', 'api.log.2'])
  assert.equal(await readFile(path, 'utf8'), 'end\n')
  assert.equal(await readFile(`${path}.2`, 'utf8'), 'two\n')
})
