import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openGitStore } from './git-store.ts'

const program = join(import.meta.dirname, 'test/endless-records.ts')
const filesPerRecord = 20

test('after kill -9 at any moment each record is complete or missing, and the next one can be made', async () => {
  const root = mkdtempSync(join(tmpdir(), 'roost-history-kill-'))
  try {
    let complete = 0
    for (let round = 0; round < 8; round += 1) {
      const child = spawn(process.execPath, [program, root, `k${round}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const output = child.stdout.setEncoding('utf8')
      // Each round is killed at another step of the second record.
      let seen = 0
      for await (const text of output) {
        seen += String(text).length
        if (seen > filesPerRecord + round * 3) child.kill('SIGKILL')
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')

      await using store = await closing(root)
      for (let record = 1; record <= 10; record += 1) {
        const listed = await store.list({ agent: `k${round}`, record: `r${record}` }, 'folder')
        if (listed === null) continue
        assert.equal(listed.length, filesPerRecord)
        complete += 1
        for (const { path } of listed) {
          const content = await store.read({ agent: `k${round}`, record: `r${record}` }, path)
          assert.ok(content)
          for await (const chunk of content) assert.equal(String(chunk), `${record}\n`.repeat(1000))
        }
      }
      // Waits for the lock of a git that the killed process left behind.
      await store.collect()
    }
    assert.ok(complete >= 8, `${complete} records`)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

async function closing(folder: string) {
  const store = await openGitStore({ folder, path: process.env.PATH ?? '' })
  return { ...store, [Symbol.asyncDispose]: () => store.close() }
}
