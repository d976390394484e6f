import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { acceptedTypes, type FileAttachment } from '@roost/contracts/runs/attachments'
import { type Fault, isFault } from '../../kit/fault.ts'
import { cleanName, contradiction, rawBase64 } from './rules.ts'
import { checkFiles } from './service.ts'

const bytes: Record<string, Buffer> = {
  'image/png': Buffer.from('89504e470d0a1a0a0000000d', 'hex'),
  'image/jpeg': Buffer.from('ffd8ffe000104a464946', 'hex'),
  'image/gif': Buffer.from('GIF89a......'),
  'image/webp': Buffer.from('RIFF\x10\x00\x00\x00WEBPVP8 ', 'latin1'),
  'text/plain': Buffer.from('plain text, ü'),
  'text/markdown': Buffer.from('# title'),
  'text/csv': Buffer.from('a;b\n1;2\n'),
  'application/json': Buffer.from('{"a":[1]}'),
  'application/zip': Buffer.from('504b030414000000', 'hex'),
}
const file = (over: Partial<FileAttachment> & { bytes?: Buffer } = {}): FileAttachment => {
  const { bytes: data = Buffer.from('hi'), ...rest } = over
  return {
    name: 'a.txt',
    mimetype: 'text/plain',
    size: data.length,
    data_base64: data.toString('base64'),
    ...rest,
  }
}
const refusal = (code: 'attachment_rejected' | 'attachment_too_large', name: string) => (error: unknown) => {
  assert.ok(isFault(error, code), String(error))
  assert.ok((error as Fault).message.includes(name), (error as Fault).message)
  assert.equal((error as Fault).fields.file, name)
  return true
}

test('every accepted type is accepted with its own bytes', () => {
  for (const mimetype of acceptedTypes) {
    const [checked] = checkFiles([file({ mimetype, bytes: bytes[mimetype] })])
    assert.equal(checked?.mimetype, mimetype)
    assert.equal(checked?.size, bytes[mimetype]?.length)
  }
})

test('every accepted type is rejected with the bytes of another type', () => {
  const kinds = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/zip']
  for (const mimetype of acceptedTypes) {
    for (const kind of kinds.filter((each) => each !== mimetype)) {
      assert.throws(
        () => checkFiles([file({ name: 'x.bin', mimetype, bytes: bytes[kind] })]),
        refusal('attachment_rejected', 'x.bin'),
        `${mimetype} with ${kind}`,
      )
    }
  }
})

test('text declared as an image or an archive is rejected', () => {
  for (const mimetype of ['image/png', 'image/webp', 'application/zip'] as const) {
    assert.throws(() => checkFiles([file({ mimetype })]), refusal('attachment_rejected', 'a.txt'))
  }
  assert.equal(contradiction('image/webp', Buffer.from('XXXX....WEBP')), 'its bytes are something else')
})

test('binary content declared as text is rejected', () => {
  for (const hex of [
    '255044462d312e37',
    '1f8b0800',
    '526172211a0700',
    '377abcaf271c',
    '00000020667479706d703432',
  ]) {
    assert.throws(
      () => checkFiles([file({ bytes: Buffer.from(hex, 'hex') })]),
      refusal('attachment_rejected', 'a.txt'),
    )
  }
  assert.equal(contradiction('text/plain', Buffer.from('fffe680069000000', 'hex')), null, 'UTF-16')
  assert.equal(contradiction('text/csv', Buffer.from('ID3;ftyp;OggS\nä', 'latin1')), null, 'Latin-1')
  assert.equal(contradiction('text/plain', Buffer.alloc(0)), null, 'an empty file')
})

test('invalid JSON is rejected', () => {
  for (const text of ['', 'nonsense', '{"a":1}{"b":2}']) {
    assert.throws(
      () => checkFiles([file({ mimetype: 'application/json', bytes: Buffer.from(text) })]),
      refusal('attachment_rejected', 'a.txt'),
    )
  }
})

test('unknown types are rejected by name; aliases of accepted types are accepted', () => {
  for (const mimetype of [
    'application/pdf',
    'application/gzip',
    'audio/mpeg',
    'video/mp4',
    'image/svg+xml',
    '',
    'x',
  ]) {
    assert.throws(
      () => checkFiles([file({ name: 'no.pdf', mimetype })]),
      refusal('attachment_rejected', 'no.pdf'),
    )
  }
  const known: [string, string, Buffer][] = [
    ['IMAGE/PNG', 'image/png', bytes['image/png'] as Buffer],
    ['image/jpg', 'image/jpeg', bytes['image/jpeg'] as Buffer],
    ['text/plain; charset=utf-8', 'text/plain', Buffer.from('x')],
    ['application/x-zip-compressed', 'application/zip', bytes['application/zip'] as Buffer],
  ]
  for (const [sent, stored, data] of known) {
    assert.equal(checkFiles([file({ mimetype: sent, bytes: data })])[0]?.mimetype, stored)
  }
})

describe('base64', () => {
  test('raw, with line breaks, and as a data URI', () => {
    assert.equal(rawBase64('aGk='), 'aGk=')
    assert.equal(rawBase64('aG\r\nk=\n'), 'aGk=')
    assert.equal(rawBase64('data:text/plain;base64,aGk='), 'aGk=')
    assert.equal(rawBase64('DATA:text/plain;charset=utf-8;BASE64,aGk='), 'aGk=')
    assert.equal(rawBase64(''), '')
  })
  test('invalid base64 is rejected by name', () => {
    for (const data_base64 of [
      '***',
      'aGk',
      'a===',
      'aG-_',
      'data:text/plain,hi',
      'data:text/plain;base64',
      '=aGk',
      'aG=k',
    ]) {
      assert.throws(
        () => checkFiles([file({ data_base64 })]),
        refusal('attachment_rejected', 'a.txt'),
        data_base64,
      )
    }
  })
})

describe('sizes', () => {
  const mib = 1024 * 1024
  test('5 MB are accepted; one byte more is too large, regardless of the declared size', () => {
    assert.equal(checkFiles([file({ bytes: Buffer.alloc(5 * mib, 'x') })])[0]?.size, 5 * mib)
    const large = file({ bytes: Buffer.alloc(5 * mib + 1, 'x'), size: 3 })
    assert.throws(() => checkFiles([large]), refusal('attachment_too_large', 'a.txt'))
  })
  test('images may have 10 MB together; other files do not count', () => {
    const image = (name: string, size: number) => {
      const data = Buffer.alloc(size)
      bytes['image/png']?.copy(data)
      return file({ name, mimetype: 'image/png', bytes: data })
    }
    checkFiles([
      image('1.png', 5 * mib),
      image('2.png', 5 * mib),
      file({ bytes: Buffer.alloc(5 * mib, 'x') }),
    ])
    assert.throws(
      () => checkFiles([image('1.png', 5 * mib), image('2.png', 5 * mib), image('3.png', 100)]),
      refusal('attachment_too_large', '3.png'),
    )
  })
  test('three files are accepted; the fourth is rejected by name', () => {
    const names = ['1', '2', '3', '4'].map((name) => file({ name }))
    assert.equal(checkFiles(names.slice(0, 3)).length, 3)
    assert.throws(() => checkFiles(names), refusal('attachment_rejected', '4'))
  })
})

describe('names', () => {
  const names: [string, string][] = [
    ['a.txt', 'a.txt'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ann\\photo.png', 'photo.png'],
    ['/abs/x', 'x'],
    ['a\u0000b\u001f\n.txt', 'ab.txt'],
    ['\u202egnp.exe', 'gnp.exe'],
    ['  spaced.txt ', 'spaced.txt'],
    ['', 'file'],
    ['..', 'file'],
    ['.', 'file'],
    ['dir/', 'file'],
    ['.env', '.env'],
    ['ünïcode 文.txt', 'ünïcode 文.txt'],
  ]
  for (const [sent, clean] of names) {
    test(`${JSON.stringify(sent)} becomes ${JSON.stringify(clean)}`, () =>
      assert.equal(cleanName(sent), clean))
  }
  test('a long name is truncated to 200 bytes and keeps its extension', () => {
    const cut = cleanName(`${'文'.repeat(200)}.png`)
    assert.ok(Buffer.byteLength(cut) <= 200)
    assert.match(cut, /\.png$/)
    assert.ok(cut.isWellFormed())
  })
  test('a name as long as a message is truncated without scanning all of it', () => {
    assert.equal(cleanName(`${'x'.repeat(20_000_000)}.png`), `${'x'.repeat(196)}.png`)
    assert.equal(cleanName('文'.repeat(7_000_000)), '文'.repeat(66))
  })
  test('a duplicate name in a message gets a suffix', () => {
    const names = checkFiles([file({ name: 'x/a.txt' }), file({ name: 'y/a.txt' }), file({ name: 'A.txt' })])
    assert.deepEqual(
      names.map(({ name }) => name),
      ['a.txt', 'a-2.txt', 'A-3.txt'],
    )
  })
})
