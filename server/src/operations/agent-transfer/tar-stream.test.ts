import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import { archiveEnd, blockBytes, type TarEntry, writeHeader } from '../../kit/tar.ts'
import { createTarReader, createTarWriter } from './tar-stream.ts'

const plain: TarEntry = { path: 'a', type: 'file', link: '', size: 0, mode: 0o644, modified: 1 }
const invalid = (pattern: RegExp) => (error: unknown) =>
  isFault(error, 'invalid_archive') && pattern.test((error as Error).message)

/** The bytes in pieces that end in the middle of headers. */
async function* inPieces(bytes: Buffer, length = 333) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function readAll(bytes: Buffer) {
  const reader = createTarReader(inPieces(bytes))
  const found: (TarEntry & { text: string })[] = []
  for (let entry = await reader.next(); entry; entry = await reader.next())
    found.push({ ...entry, text: (await reader.whole(entry, 1000)).toString('latin1') })
  await reader.finish()
  return found
}

const entries: TarEntry[] = [
  { ...plain, path: 'workspace/dir', type: 'folder', mode: 0o555 },
  { ...plain, path: `workspace/${'n'.repeat(200)}`, size: 5 },
  { ...plain, path: 'workspace/not-utf8-\xff\xfe', size: 5, mode: 0o700 },
  { ...plain, path: 'workspace/new\nline', type: 'symlink', link: `../${'t'.repeat(300)}`, mode: 0o777 },
  { ...plain, path: 'workspace/hard', type: 'hardlink', link: 'workspace/not-utf8-\xff\xfe' },
]

function written(all: readonly TarEntry[]): Buffer {
  const writer = createTarWriter()
  const parts = all.flatMap((entry) => [
    writer.header(entry),
    writer.content(Buffer.from('hello'.slice(0, entry.size))),
    writer.padding(entry),
  ])
  return Buffer.concat([...parts, writer.end()])
}

test('what is written is read again, and GNU tar reads it too', async () => {
  const bytes = written(entries)
  const found = await readAll(bytes)
  assert.deepEqual(
    found.map(({ text: _, ...entry }) => entry),
    entries,
  )
  assert.equal(found[1]?.text, 'hello')
  const folder = mkdtempSync(join(tmpdir(), 'roost-tar-'))
  try {
    const list = execFileSync('tar', ['-tv', '-f', '-'], { input: bytes, encoding: 'utf8' })
    assert.match(list, /^dr-xr-xr-x developer\/developer .* workspace\/dir$/m)
    assert.match(list, /^hrw-r--r-- .* workspace\/hard link to workspace\/not-utf8-\\377\\376$/m)
    execFileSync('tar', ['-x', '-f', '-', '-C', folder], { input: bytes })
  } finally {
    execFileSync('chmod', ['-R', 'u+w', folder])
    rmSync(folder, { recursive: true })
  }
})

test('set-id and sticky bits do not survive', async () => {
  const block = writeHeader({ ...plain, mode: 0o7755 })
  const [found] = await readAll(Buffer.concat([block, archiveEnd]))
  assert.equal(found?.mode, 0o755)
})

test('422 for entries that are no files, folders or links, and for other formats', async () => {
  const altered = (at: number, text: string, entry = plain) => {
    const block = writeHeader(entry)
    block.write(text, at, 'latin1')
    block.fill(' ', 148, 156)
    const sum = block.reduce((total, byte) => total + byte, 0)
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
    return Buffer.concat([block, archiveEnd])
  }
  for (const [name, bytes, pattern] of [
    ['a device', altered(156, '3'), /not a file, folder or link/],
    ['a pipe', altered(156, '6'), /not a file, folder or link/],
    ['an extended header', altered(156, 'x'), /not a file, folder or link/],
    ['a sparse file', altered(156, 'S'), /not a file, folder or link/],
    [
      'a folder with content',
      altered(124, '00000001000', { ...plain, type: 'folder' }),
      /must not have content/,
    ],
    ['another format', altered(257, 'ustar\x0000'), /GNU tar format/],
    ['a negative size', altered(124, '\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff'), /out of range/],
    ['a size that is no number', altered(124, '99999999999'), /not valid/],
    ['a changed byte', Buffer.concat([writeHeader(plain).fill('b', 0, 1), archiveEnd]), /checksum/],
    [
      'a huge name',
      Buffer.concat([writeHeader({ ...plain, path: 'n'.repeat(5000) }), archiveEnd]),
      /too long/,
    ],
    ['no end mark', writeHeader(plain), /ends too early/],
    ['nothing', Buffer.alloc(0), /ends too early/],
    ['data after the end', Buffer.concat([written([plain]), Buffer.alloc(blockBytes, 1)]), /after its end/],
  ] as const)
    await assert.rejects(readAll(bytes), invalid(pattern), name)
})

test('every cut is noticed', async () => {
  const bytes = written(entries)
  // Both blocks of the end mark are zero: the second one may be missing.
  for (let length = 0; length <= bytes.length - 2 * blockBytes; length += 97)
    await assert.rejects(readAll(bytes.subarray(0, length)), invalid(/ends too early/), `${length} bytes`)
})

test('a large size is stored as a binary number', async () => {
  const size = 2 ** 34
  const reader = createTarReader(inPieces(writeHeader({ ...plain, size })))
  assert.equal((await reader.next())?.size, size)
})
