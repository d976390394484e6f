import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { HistoryEntry } from '@roost/contracts/link/history'
import { openTestHistory } from '../../test/history.ts'
import { DiffTooLarge, maxDiffBytes, type StoredEntry, type WorkspaceHistory } from './port.ts'

const entry = (path: string): HistoryEntry => ({
  ...{ path, kind: 'file', mode: 0o644, owner: true, size: 0, sparse: false },
})

async function store(history: WorkspaceHistory, files: Record<string, string>) {
  await using draft = await history.open({ agent: 'a', base: null, maxBytes: 1e9 })
  for (const [path, content] of Object.entries(files)) {
    const bytes = async function* () {
      yield Buffer.from(content, 'latin1')
    }
    await draft.put(entry(path), bytes())
  }
  const record = crypto.randomUUID()
  await draft.commit(record)
  return async (path: string): Promise<StoredEntry> => {
    const found = await history.entry({ agent: 'a', record }, path)
    assert.ok(found)
    return found
  }
}

test('two texts are compared by lines, and a missing side is empty', async () => {
  await using opened = await openTestHistory()
  const { history } = opened
  const at = await store(history, { old: 'one\ntwo\n', new: 'one\n2\n', none: '', open: 'a\nb' })
  const text = async (before: string | null, after: string | null) => {
    const entry = (path: string | null) => (path === null ? null : at(path))
    const found = await history.textDiff(await entry(before), await entry(after))
    return found.isBinary ? 'binary' : found.text
  }
  assert.equal(await text('old', 'new'), '@@ -1,2 +1,2 @@\n one\n-two\n+2\n')
  assert.equal(await text('old', 'old'), '')
  assert.equal(await text(null, 'old'), '@@ -0,0 +1,2 @@\n+one\n+two\n')
  assert.equal(await text('none', 'old'), '@@ -0,0 +1,2 @@\n+one\n+two\n')
  assert.equal(await text('open', null), '@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n')
  assert.deepEqual(await history.sizes([await at('old'), await at('none')]), [8, 0])
})

test('binary and large contents are not compared', async () => {
  await using opened = await openTestHistory()
  const { history } = opened
  const at = await store(history, { text: 'a\n', binary: 'a\0b', large: 'x'.repeat(maxDiffBytes + 1) })
  assert.deepEqual(await history.textDiff(await at('text'), await at('binary')), { isBinary: true })
  await assert.rejects(async () => history.textDiff(await at('text'), await at('large')), DiffTooLarge)
})

test('attributes, filters and names in the content of an agent have no effect', async () => {
  await using opened = await openTestHistory()
  const { history } = opened
  const program = join(process.cwd(), `started-by-diff-${process.pid}`)
  const at = await store(history, {
    '.gitattributes': '* diff=evil -text\n',
    '.gitconfig': `[diff "evil"]\n textconv = touch ${program}\n command = touch ${program}\n`,
    '--output=x': 'one\n',
    '--ext-diff': 'two\n',
  })
  const found = await history.textDiff(await at('--output=x'), await at('--ext-diff'))
  assert.deepEqual(found, { isBinary: false, text: '@@ -1 +1 @@\n-one\n+two\n' })
  assert.equal(existsSync(program), false)
})
