import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

test('a finished request leaves almost nothing in old space', async () => {
  const program = join(import.meta.dirname, 'test/memory-per-request.ts')
  // A young generation that is collected only on demand.
  const flags = ['--expose-gc', '--max-semi-space-size=32', '--min-semi-space-size=32']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program])
  // About 40 bytes are runtime counters and tables; a leaked request with its response is 4,000.
  assert.ok(Number(stdout) < 1000, `${stdout.trim()} bytes for each request`)
})
