import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Attachment, addFiles, refusalOf, typeOf, workspaceRefusalOf } from './attachments.ts'

const mib = 1024 * 1024
const file = (name: string, type = '', size = 10) => ({ name, type, size })
const added = (mimetype: Attachment['mimetype'], size = 10): Attachment => ({
  id: 'f',
  name: 'f',
  mimetype,
  size,
  data_base64: '',
})

describe('the MIME type of an attachment', () => {
  for (const [name, type, expected] of [
    ['a.png', 'image/png', 'image/png'],
    ['a.txt', 'text/plain; charset=utf-8', 'text/plain'],
    ['README.md', '', 'text/markdown'],
    ['data.csv', 'application/vnd.ms-excel', 'text/csv'],
    ['a.zip', 'application/x-zip-compressed', 'application/zip'],
    ['a.PDF', 'application/pdf', null],
    ['a.svg', 'image/svg+xml', null],
    ['renamed.png', 'image/heic', null],
    ['Makefile', '', null],
  ] as const) {
    test(`${name} (${type || 'no type'}) is ${expected}`, () => {
      assert.equal(typeOf(file(name, type)), expected)
    })
  }
})

describe('refused before sending', () => {
  test('a file of another type, by name', () => {
    assert.match(refusalOf([], file('a.exe')) ?? '', /“a\.exe” is not an image/)
  })
  test('a fourth file', () => {
    const present = [added('text/csv'), added('text/csv'), added('text/csv')]
    assert.match(
      refusalOf(present, file('d.csv')) ?? '',
      /“d\.csv” was not added: a message can have at most 3/,
    )
    assert.equal(refusalOf(present.slice(1), file('d.csv')), null)
  })
  test('a file above 5 MB, and an empty one', () => {
    assert.equal(refusalOf([], file('a.txt', '', 5 * mib)), null)
    assert.match(refusalOf([], file('a.txt', '', 5 * mib + 1)) ?? '', /“a\.txt” is too large/)
    assert.match(refusalOf([], file('a.txt', '', 0)) ?? '', /“a\.txt” is empty/)
  })
  test('images above 10 MB in total', () => {
    const present = [added('image/png', 5 * mib), added('image/png', 4 * mib)]
    assert.equal(refusalOf(present, file('c.png', 'image/png', mib)), null)
    assert.match(refusalOf(present, file('c.png', 'image/png', mib + 1)) ?? '', /10 MB in total/)
    assert.equal(refusalOf(present, file('c.txt', '', 5 * mib)), null)
  })
})

describe('files for the workspace', () => {
  const add = (present: Attachment[], files: File[], mayWrite = true) => {
    const newId = () => 'id'
    return addFiles({ attachments: present, workspaceFiles: [] }, files, { newId, mayWrite })
  }
  const full = [added('text/csv'), added('text/csv'), added('text/csv')]

  test('are those that the message does not take', async () => {
    const report = new File(['%PDF'], 'report.pdf', { type: 'application/pdf' })
    const { attachments, workspaceFiles, refusals } = await add(full, [
      report,
      new File(['a,b'], 'fourth.csv', { type: 'text/csv' }),
    ])
    assert.equal(attachments.length, 3)
    assert.deepEqual(
      workspaceFiles.map(({ name, size }) => [name, size]),
      [
        ['report.pdf', 4],
        ['fourth.csv', 3],
      ],
    )
    assert.deepEqual(refusals, [])
  })
  test('are refused for people who may not write, and when empty, unreadable or above 100 MB', async () => {
    const pdf = new File(['%PDF'], 'a.pdf', { type: 'application/pdf' })
    assert.match((await add([], [pdf], false)).refusals[0] ?? '', /“a\.pdf” is not an image/)
    assert.match((await add([], [new File([], 'a.pdf')])).refusals[0] ?? '', /“a\.pdf” is empty/)
    const folder = new File(['x'], 'folder')
    folder.slice = () => {
      throw new Error('a folder')
    }
    assert.match((await add([], [folder])).refusals[0] ?? '', /“folder” could not be read/)
    assert.equal(workspaceRefusalOf(file('a.tar', '', 100 * mib)), null)
    assert.match(workspaceRefusalOf(file('a.tar', '', 100 * mib + 1)) ?? '', /at most 100 MB/)
  })
})
