import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { test } from 'node:test'
import { Encrypter } from 'age-encryption'
import { pack } from 'tar-stream'
import type { VolumeJobs } from '../../ports/volume-jobs/port.ts'
import { ageSource } from './index.ts'

const passphrase = 'correct horse'
const noJobs: VolumeJobs = {
  problem: async () => null,
  prepare: async () => {},
  run: () => assert.fail('no job is needed'),
}

async function backupOf(content: string): Promise<Uint8Array> {
  const archive = pack()
  archive.entry({ name: 'roost/volumes/a/note.txt' }, content)
  archive.finalize()
  const encrypter = new Encrypter()
  encrypter.setPassphrase(passphrase)
  encrypter.setScryptWorkFactor(10)
  return encrypter.encrypt(await buffer(archive))
}

test('a backup file that is incomplete, changed or sealed with another passphrase is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-age-file-'))
  try {
    const from = join(folder, 'backup.age')
    const source = ageSource(noJobs, { from, passphrase })
    await assert.rejects(source.check('all'), { message: `${from} does not exist.` })
    // More than one chunk of the format, which has 64 KiB.
    const content = 'line\n'.repeat(40_000)
    const whole = await backupOf(content)
    await writeFile(from, whole)
    await source.check('all')
    const output = new PassThrough()
    const [read] = await Promise.all([text(output), source.read('a/note.txt', output)])
    assert.equal(read, content)
    await assert.rejects(source.read('a/other.txt', new PassThrough()), {
      message: 'a/other.txt is no file of this backup.',
    })
    const wrong = ageSource(noJobs, { from, passphrase: 'another' })
    await assert.rejects(wrong.check('all'), { message: 'The passphrase is wrong.' })

    const damaged = { message: `${from} is damaged or incomplete.` }
    for (const length of [whole.length - 1, whole.length - 70_000]) {
      await writeFile(from, whole.subarray(0, length))
      await assert.rejects(source.check('all'), damaged)
    }
    await assert.rejects(source.read('a/note.txt', new PassThrough().resume()), damaged)
    const changed = Uint8Array.from(whole)
    changed[whole.length - 100] = (changed[whole.length - 100] ?? 0) ^ 1
    await writeFile(from, changed)
    await assert.rejects(source.check('all'), damaged)
    await writeFile(from, content)
    await assert.rejects(source.check('all'), {
      message: `${from} is no backup of Roost, or is damaged.`,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
