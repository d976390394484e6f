import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { test } from 'node:test'
import { extract, pack } from 'tar-stream'
import { RefusedCall } from './calls.ts'
import { templateArchive } from './files.ts'

async function archive(entries: [header: object, content: string][]): Promise<Buffer> {
  const packed = pack()
  for (const [header, content] of entries) packed.entry({ name: 'template', ...header }, content)
  packed.finalize()
  return buffer(packed)
}
const written = (bytes: Buffer, limit = 100_000) => buffer(templateArchive(Readable.from([bytes]), limit))

test('the files of a template are written anew and belong to root', async () => {
  const given = await archive([
    [{ type: 'directory', mode: 0o2777 }, ''],
    [{ name: 'template/run.sh', mode: 0o4777, uid: 7 }, 'echo hello'],
    [{ name: 'template/link', type: 'symlink', linkname: '/etc/passwd' }, ''],
  ])
  const received = extract()
  received.end(await written(given))
  const found: unknown[] = []
  for await (const entry of received) {
    const { name, type, mode, uid, linkname } = entry.header
    found.push([name, type, mode, uid, linkname ?? null, await text(entry)])
  }
  assert.deepEqual(found, [
    ['template', 'directory', 0o755, 0, null, ''],
    ['template/run.sh', 'file', 0o755, 0, null, 'echo hello'],
    ['template/link', 'symlink', 0o777, 0, '/etc/passwd', ''],
  ])
})

const refused: Record<string, object> = {
  'a file elsewhere': { name: 'etc/passwd' },
  'a file beside the folder': { name: 'templates/x' },
  'a way out': { name: 'template/../etc/passwd' },
  'an absolute path': { name: '/template/x' },
  'an empty segment': { name: 'template//x' },
  'a hard link': { name: 'template/x', type: 'link', linkname: 'etc/shadow' },
  'a device': { name: 'template/x', type: 'block-device', devmajor: 8, devminor: 0 },
}
for (const [title, header] of Object.entries(refused)) {
  test(`an archive with ${title} is refused with the rule`, async () => {
    const given = await archive([
      [header, ''],
      [{ name: 'template/last' }, 'x'],
    ])
    await assert.rejects(
      written(given),
      (error) => error instanceof RefusedCall && /must be below|are not allowed/.test(error.message),
    )
  })
}

test('a damaged archive and one beyond the limit are refused', async () => {
  const given = await archive([[{ name: 'template/x' }, 'x'.repeat(5_000)]])
  await assert.rejects(written(given.subarray(0, 2_000)), RefusedCall)
  await assert.rejects(written(given, 4_000), RefusedCall)
})
