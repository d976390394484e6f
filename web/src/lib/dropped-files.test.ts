import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosenFiles, transferredFiles } from './dropped-files.ts'

type Tree = { [name: string]: Tree | string }

/** A folder as browsers give it: at most two entries at a time. */
function folderOf(name: string, tree: Tree): FileSystemEntry {
  const entries = Object.entries(tree).map(([inside, content]) =>
    typeof content === 'string' ? fileOf(inside, content) : folderOf(inside, content),
  )
  const createReader = () => ({
    readEntries: (resolve: (portion: FileSystemEntry[]) => void) => resolve(entries.splice(0, 2)),
  })
  return { name, isFile: false, isDirectory: true, createReader } as unknown as FileSystemEntry
}

function fileOf(name: string, content: string): FileSystemEntry {
  const file = (resolve: (file: File) => void) => resolve(new File([content], name))
  return { name, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry
}

const itemOf = (entry: FileSystemEntry | null, file: File | null) => ({
  kind: 'file',
  webkitGetAsEntry: () => entry,
  getAsFile: () => file,
})
const transferOf = (...items: object[]) => ({ items }) as unknown as DataTransfer

test('a drop has files and the files of folders, with their paths', async () => {
  const data = transferOf(
    itemOf(fileOf('a.txt', 'a'), new File(['a'], 'a.txt')),
    itemOf(folderOf('photos', { 'b.png': 'b', 'c.png': 'c', 'd.png': 'd', deep: { 'e.png': 'e' } }), null),
    // A file without an entry, as in a paste.
    itemOf(null, new File(['f'], 'f.txt')),
    { kind: 'string', webkitGetAsEntry: () => null, getAsFile: () => null },
  )
  const found = await transferredFiles(data, 100)
  assert.deepEqual(
    found.map(({ path }) => path),
    ['a.txt', 'photos/b.png', 'photos/c.png', 'photos/d.png', 'photos/deep/e.png', 'f.txt'],
  )
})

test('reading stops soon after the limit', async () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}`, 'x']))
  const found = await transferredFiles(transferOf(itemOf(folderOf('many', many), null)), 10)
  assert.equal(found.length, 11)
})

test('chosen files keep their path in a chosen folder', () => {
  const inFolder = Object.assign(new File([], 'b.txt'), { webkitRelativePath: 'docs/b.txt' })
  const single = Object.assign(new File([], 'a.txt'), { webkitRelativePath: '' })
  assert.deepEqual(
    chosenFiles([single, inFolder]).map(({ path }) => path),
    ['a.txt', 'docs/b.txt'],
  )
})
