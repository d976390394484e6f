import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHistoryCopies } from './copies.ts'
import { openGitStore } from './git-store.ts'
import type { WorkspaceHistory } from './port.ts'

const path = process.env.PATH ?? ''
const agent = 'a1'

async function record(store: WorkspaceHistory, name: string, base: string | null): Promise<void> {
  await using draft = await store.open({ agent, base, maxBytes: 1e9 })
  const entry = { path: 'file', kind: 'file' as const, mode: 0o644, owner: true, size: 0, sparse: false }
  await draft.put(entry, content(name))
  await draft.commit(name)
}

async function* content(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

async function textOf(store: WorkspaceHistory, name: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of (await store.read({ agent, record: name }, 'file')) ?? assert.fail(name))
    chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('a copy has every record that was complete, while others are made and removed', async () => {
  const root = mkdtempSync(join(tmpdir(), 'roost-history-copies-'))
  const folder = join(root, 'store')
  const copies = openHistoryCopies({ folder, path })
  assert.equal(await copies.copyTo(join(root, 'none')), false)
  const store = await openGitStore({ folder, path })
  try {
    for (let at = 1; at <= 4; at += 1) await record(store, `r${at}`, at === 1 ? null : `r${at - 1}`)
    // Some references are packed, some are not; a killed record left a part of a pack.
    await store.remove(agent, ['r1'])
    await store.collect()
    await record(store, 'r5', 'r4')
    writeFileSync(join(folder, 'objects.git', 'objects', 'pack', 'tmp_pack_x'), 'x')
    const target = join(root, 'copy')
    const [isCopied] = await Promise.all([copies.copyTo(target), record(store, 'r6', 'r5'), store.collect()])
    assert.equal(isCopied, true)
    const copy = await openGitStore({ folder: target, path })
    try {
      const names = (await copy.records()).map(({ record: name }) => name)
      for (const name of ['r2', 'r3', 'r4', 'r5']) assert.ok(names.includes(name), name)
      assert.ok(!names.includes('r1'))
      for (const name of names) assert.equal(await textOf(copy, name), name)
      const packs = readdirSync(join(target, 'objects.git', 'objects', 'pack'))
      assert.ok(!packs.includes('tmp_pack_x'))
      // The copy goes on by itself.
      await record(copy, 'own', 'r5')
      assert.equal(existsSync(join(folder, 'objects.git', 'refs', 'records', agent, 'own')), false)
    } finally {
      await copy.close()
    }
  } finally {
    await store.close()
    rmSync(root, { recursive: true, force: true })
  }
})
