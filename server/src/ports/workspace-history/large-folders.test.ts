import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readFolder } from './folders.ts'
import { openGitStore } from './git-store.ts'
import type { Objects } from './objects.ts'
import { FolderTooLarge, maxFolderEntries } from './port.ts'
import { attributesOf, parseAttributes } from './tree.ts'

const nameAt = (index: number) => `f${String(index).padStart(8, '0')}`

/** A tree object in which every entry has the same content. */
function treeOf(entries: number, content: string): Buffer {
  const hash = Buffer.from(content, 'hex')
  return Buffer.concat(
    Array.from({ length: entries }, (_, at) => [Buffer.from(`100600 ${nameAt(at)}\0`), hash]).flat(),
  )
}

/** How often other work of this process ran meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}

const content = 'a'.repeat(64)
const objectsWith = (bytes: Buffer): Objects => ({
  read: async () => bytes,
  find: async () => null,
  async close() {},
})

test('a large folder is read and its attributes are written in pieces', async () => {
  const folder = await readFolder(objectsWith(treeOf(1, content)), 'one')
  const children = new Map(
    Array.from({ length: 50_000 }, (_, at) => {
      const child = { ...(folder.children.get(nameAt(0)) ?? assert.fail()), name: nameAt(at), mode: 0o600 }
      return [child.name, child]
    }),
  )
  assert.ok((await turnsDuring(() => readFolder(objectsWith(treeOf(50_000, content)), 'many'))) >= 20)
  let text: string | null = null
  const writing = async () => {
    text = await attributesOf(children, null)
  }
  assert.ok((await turnsDuring(writing)) >= 20)
  assert.ok((await turnsDuring(() => parseAttributes(text ?? assert.fail()))) >= 20)
  assert.equal((await parseAttributes(text ?? '')).size, 50_000)
})

test('a folder above the limit is neither recorded nor read', async () => {
  const root = mkdtempSync(join(tmpdir(), 'roost-large-folders-'))
  const store = await openGitStore({ folder: join(root, 'store'), path: process.env.PATH ?? '' })
  try {
    const git = (args: string[], input: Buffer | string = '') =>
      execFileSync('git', ['--git-dir', join(root, 'store', 'objects.git'), ...args], {
        input,
        env: {
          PATH: process.env.PATH,
          ...{
            GIT_AUTHOR_NAME: 'a',
            GIT_AUTHOR_EMAIL: 'a',
            GIT_COMMITTER_NAME: 'a',
            GIT_COMMITTER_EMAIL: 'a',
          },
        },
      })
        .toString()
        .trim()
    const blob = git(['hash-object', '-w', '--stdin'])
    for (const [record, entries] of [
      ['full', maxFolderEntries],
      ['above', maxFolderEntries + 1],
    ] as const) {
      const bytes = Buffer.from(
        treeOf(entries, blob).toString('latin1').replaceAll('100600 ', '100644 '),
        'latin1',
      )
      const tree = git(['hash-object', '-w', '-t', 'tree', '--stdin'], bytes)
      git(['update-ref', `refs/records/one/${record}`, git(['commit-tree', tree, '-m', ''])])
    }
    assert.equal((await store.list({ agent: 'one', record: 'full' }, ''))?.length, maxFolderEntries)
    await assert.rejects(store.list({ agent: 'one', record: 'above' }, ''), FolderTooLarge)
    const entry = { kind: 'folder', mode: 0o755, owner: true, size: 0, sparse: false } as const
    await using draft = await store.open({ agent: 'one', base: 'full', maxBytes: 1e12 })
    await draft.remove(nameAt(0))
    await draft.folder({ ...entry, path: 'one' })
    await assert.rejects(draft.folder({ ...entry, path: 'another' }), FolderTooLarge)
  } finally {
    await store.close()
    rmSync(root, { recursive: true, force: true })
  }
})
