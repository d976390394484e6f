import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { changeTree, randomOf, readTree, type Tree } from '@roost/test-support/trees/random'
import { createScanner } from '../../../../agent/src/history/scan.ts'
import { systemClock } from '../../../../agent/src/kit/clock.ts'
import { createIdentities, readIdentityFacts } from '../../../../agent/src/processes/identity.ts'
import { openGitStore } from './git-store.ts'
import type { WorkspaceHistory } from './port.ts'

const rules = { patterns: [], max_file_bytes: 1e9 }

test('what the agent program scans reads back byte-equal from the store', async () => {
  const root = mkdtempSync(join(tmpdir(), 'roost-history-scanned-'))
  const store = await openGitStore({ folder: join(root, 'store'), path: process.env.PATH ?? '' })
  try {
    for (let seed = 101; seed <= 105; seed += 1) {
      const home = join(root, `home-${seed}`)
      mkdirSync(home)
      const scanner = createScanner({
        home,
        file: join(root, `index-${seed}`),
        identities: createIdentities(readIdentityFacts(statSync(home))),
        clock: systemClock,
      })
      const random = randomOf(seed)
      let base: string | null = null
      for (let round = 1; round <= 4; round += 1) {
        changeTree(home, random, 25)
        await using scan = await scanner.scan(rules, base === null ? [] : [base])
        await using draft = await store.open({ agent: `a${seed}`, base: scan.base, maxBytes: 1e12 })
        for (const path of scan.gone) await draft.remove(path)
        for (const entry of scan.came) {
          if (entry.kind === 'folder') await draft.folder(entry)
          else if (!(await draft.keep(entry, await scan.digest(entry), entry.path)))
            await draft.put(entry, scan.content(entry))
        }
        base = `r${round}`
        await draft.commit(base)
        await scan.commit(base)
        const expected = [...readTree(home)].filter(([path]) => path !== '')
        const stored = await readBack(store, `a${seed}`, base)
        assert.deepEqual(stored, new Map(expected), `seed ${seed}, round ${round}`)
      }
    }
  } finally {
    await store.close()
    rmSync(root, { recursive: true, force: true })
  }
})

async function readBack(store: WorkspaceHistory, agent: string, record: string): Promise<Tree> {
  const tree: Tree = new Map()
  const pending = ['']
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const { path, kind, mode } of (await store.list({ agent, record }, folder)) ?? []) {
      const chunks: Buffer[] = []
      for await (const chunk of (await store.read({ agent, record }, path)) ?? []) chunks.push(chunk)
      tree.set(path, { kind, mode, content: Buffer.concat(chunks).toString('latin1') })
      if (kind === 'folder') pending.push(path)
    }
  }
  return tree
}
