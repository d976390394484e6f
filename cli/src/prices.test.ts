import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const main = join(import.meta.dirname, 'main.ts')
const roost = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
const folder = mkdtempSync(join(tmpdir(), 'roost-prices-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function fileOf(content: unknown): string {
  const path = join(folder, 'prices.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const tableOf = (models: object[]) => ({
  format: 1,
  providers: { openai: { as_of: '2026-12-01', source: 'Our contract', models } },
})

test('check accepts the built-in table and prints its counts', () => {
  const builtIn = join(import.meta.dirname, '../../server/src/runs/prices/table.json')
  const { status, stdout } = roost('prices', 'check', builtIn)
  assert.equal(status, 0)
  for (const provider of ['anthropic', 'google', 'openai'])
    assert.match(stdout, new RegExp(`${provider} +2026-`))
})

test('check names each fault and its place in the file; exit code 1', () => {
  const faulty = tableOf([{ id: 'gpt-x', input: -1, output: 1, cash: 2 }])
  const { status, stderr } = roost('prices', 'check', fileOf(faulty))
  assert.equal(status, 1)
  assert.match(stderr, /providers\.openai\.models\.0\.input: must be at least 0/)
  assert.match(stderr, /providers\.openai\.models\.0: .*cash/)
  assert.match(roost('prices', 'check', fileOf('{')).stderr, /is not JSON/)
  assert.match(roost('prices', 'check', join(folder, 'none.json')).stderr, /Cannot read .*ENOENT/)
  const { error } = JSON.parse(roost('prices', 'check', '--json', fileOf('{')).stderr)
  assert.equal(error, 'failed')
})

test('2 for a missing or a further argument', () => {
  assert.equal(roost('prices', 'check').status, 2)
  assert.equal(roost('prices', 'check', 'a', 'b').status, 2)
  assert.match(roost('prices', 'nope').stderr, /Unknown subcommand|Not signed in/)
})
