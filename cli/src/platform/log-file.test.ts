import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLogFile } from './log-file.ts'

test('a log keeps its last three files; the newest has no number', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-log-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'logs', 'api.log')
  const log = openLogFile(path, { maxBytes: 4 })
  for (const part of ['one\n', 'two\n', 'abc\n', 'end\n']) log.write(part)
  assert.deepEqual((await readdir(join(folder, 'logs'))).sort(), ['api.log', 'api.log.1', 'api.log.2'])
  assert.equal(await readFile(path, 'utf8'), 'end\n')
  assert.equal(await readFile(`${path}.2`, 'utf8'), 'two\n')
})

test('a write error is reported once; the log continues later and records the lost bytes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-log-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'api.log')
  const troubles: unknown[] = []
  const log = openLogFile(path, { onTrouble: (error) => troubles.push(error) })
  // A folder at the path of the log makes every write fail, even as root.
  await mkdir(path)
  log.write('lost\n')
  log.write('too\n')
  assert.equal(troubles.length, 1)
  assert.match(String(troubles[0]), /EISDIR/)
  await rmdir(path)
  log.write('kept\n')
  log.write('again\n')
  const [, gap = '', ...lines] = (await readFile(path, 'utf8')).split('\n')
  const { time, ...entry } = JSON.parse(gap)
  assert.ok(time)
  assert.deepEqual(entry, { level: 'warn', lost_bytes: 9, msg: 'this log could not be written' })
  assert.deepEqual(lines, ['kept', 'again', ''])
  await rm(path)
  await mkdir(path)
  log.write('lost\n')
  assert.equal(troubles.length, 2)
})
