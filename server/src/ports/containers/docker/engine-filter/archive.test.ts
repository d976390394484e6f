import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { archiveEnd, paddingOf, writeWhiteout } from '../../../../kit/tar.ts'
import { checkedArchive } from './archive.ts'
import { RefusedCall } from './calls.ts'
import { tar } from './test-archive.ts'

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const content = (size: number) => Buffer.alloc(size + paddingOf(size), 'etc/passwd')

test('an archive passes unchanged, however it is divided', async () => {
  const bytes = Buffer.concat([
    tar([{ path: 'volume/', type: 'folder', mode: 0o700 }], Buffer.alloc(0)),
    tar([{ path: `volume/${'long/'.repeat(200)}name`, size: 2000, owner: 1001 }], content(2000)),
    tar([{ path: 'volume/far', type: 'symlink', link: `/${'far/'.repeat(900)}` }], Buffer.alloc(0)),
    writeWhiteout(`volume/${'gone/'.repeat(50)}x`),
    writeWhiteout('volume/gone'),
    tar([{ path: 'volume/whole', size: 1024 }], content(1024)),
    tar([{ path: 'volume/\xff..' }], archiveEnd),
    Buffer.alloc(8192),
  ])
  for (const size of [1, 100, 511, 512, 513, 4096, bytes.length]) {
    const passed = await Array.fromAsync(checkedArchive(chunksOf(bytes, size)))
    assert.ok(Buffer.concat(passed).equals(bytes), String(size))
  }
})

/** A header with other bytes and a correct checksum. */
function patched(at: number, bytes: string): Buffer {
  const block = Buffer.from(tar([{}], Buffer.alloc(0)))
  block.write(bytes, at, 'latin1')
  return checked(Buffer.concat([block, archiveEnd]))
}

function checked(archive: Buffer): Buffer {
  archive.fill(' ', 148, 156)
  const sum = archive.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return archive
}

function device(type: string, major: string, minor = '0000000'): Buffer {
  const block = patched(156, type)
  block.write(major, 329, 'latin1')
  block.write(minor, 337, 'latin1')
  return checked(block)
}

const writeWhiteoutAt = (path: string) => Buffer.concat([writeWhiteout(path), archiveEnd])

const archives: Record<string, Buffer> = {
  'a name beside the volume': tar([{ path: 'etc/passwd' }]),
  'a name that only begins like it': tar([{ path: 'volumes/x' }]),
  'an absolute name': tar([{ path: '/volume/x' }]),
  'a name that leads out': tar([{ path: 'volume/../etc/passwd' }]),
  'a name with a dot': tar([{ path: 'volume/./x' }]),
  'a long name that leads out': tar([{ path: `volume/${'../'.repeat(60)}etc/passwd` }]),
  'a hard link': tar([{ type: 'hardlink', link: 'volume/../../etc/passwd' }]),
  'a device': device('3', '0000001'),
  'a device by its second number': device('3', '0000000', '0000001'),
  'a whiteout beside the volume': writeWhiteoutAt('etc/passwd'),
  'a block device': patched(156, '4'),
  'a pipe': patched(156, '6'),
  'extended attributes': patched(156, 'x'),
  'attributes for all': patched(156, 'g'),
  'a sparse file': patched(156, 'S'),
  'another format': patched(257, 'ustar\0'.padEnd(8, '0')),
  'a prefix of its name': patched(345, '/etc'),
  'a compressed content': gzipSync(tar([{}])),
  'content after its end': Buffer.concat([tar([{}]), tar([{ path: 'etc/passwd' }])]),
  'no end': tar([{}], Buffer.alloc(0)),
  'half a header': tar([{}]).subarray(0, 300),
}
for (const [title, bytes] of Object.entries(archives)) {
  test(`an archive with ${title} is refused before it reaches the engine`, async () => {
    for (const size of [100, bytes.length]) {
      const passed: Buffer[] = []
      const read = async () => {
        for await (const piece of checkedArchive(chunksOf(bytes, size))) passed.push(piece)
      }
      await assert.rejects(read(), RefusedCall)
      const text = Buffer.concat(passed).toString('latin1')
      // A long name alone creates nothing.
      assert.ok(!text.includes('etc/') || !text.includes('etc/passwd', text.lastIndexOf('LongLink') + 1024))
    }
  })
}
