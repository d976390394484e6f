import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLog, tailLog } from './log.ts'

async function withLog(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-log-'))
  try {
    await act(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('a log never exceeds its number of files times their size', () =>
  withLog(async (folder) => {
    const log = openLog(folder, { maxBytes: 1000, files: 3 })
    for (let line = 0; line < 1000; line += 1) log.write(Buffer.from(`line ${line}\n`))
    log.close()
    const files = (await readdir(folder)).sort()
    assert.deepEqual(files, ['log', 'log.1', 'log.2'])
    for (const file of files) assert.ok((await stat(join(folder, file))).size <= 1000)
    assert.equal(await tailLog(folder, 2, 3), 'line 998\nline 999\n')
  }))

test('the tail continues in older files', () =>
  withLog(async (folder) => {
    const log = openLog(folder, { maxBytes: 30, files: 3 })
    for (let line = 0; line < 8; line += 1) log.write(Buffer.from(`line ${line}\n`))
    log.close()
    assert.equal(await tailLog(folder, 6, 3), 'line 2\nline 3\nline 4\nline 5\nline 6\nline 7\n')
  }))

test('a new writer continues the existing log', () =>
  withLog(async (folder) => {
    for (const word of ['one\n', 'two\n']) {
      const log = openLog(folder, { maxBytes: 1000, files: 3 })
      log.write(Buffer.from(word))
      log.close()
    }
    assert.equal(await tailLog(folder, 10, 3), 'one\ntwo\n')
  }))

test('long lines and invalid UTF-8 are returned completely', () =>
  withLog(async (folder) => {
    const log = openLog(folder, { maxBytes: 10 ** 7, files: 3 })
    log.write(Buffer.from(`first\n${'x'.repeat(200_000)}\n`))
    log.write(Buffer.from([0xff, 0xfe, 10]))
    log.close()
    const lines = (await tailLog(folder, 2, 3)).split('\n')
    assert.equal(lines[0]?.length, 200_000)
    assert.equal(lines[1], '��')
  }))

test('a container without output has an empty log', () =>
  withLog(async (folder) => assert.equal(await tailLog(folder, 5, 3), '')))
