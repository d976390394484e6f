import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

test('a request that was answered leaves next to nothing for the marking of all memory', async () => {
  const program = join(import.meta.dirname, 'test/left-behind.ts')
  // A young generation that is collected only when the program asks.
  const flags = ['--expose-gc', '--max-semi-space-size=32', '--min-semi-space-size=32']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program])
  // Some 40 bytes are counters and tables of the runtime; one request with its reply is four thousand.
  assert.ok(Number(stdout) < 1000, `${stdout.trim()} bytes for each request`)
})
