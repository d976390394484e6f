import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const main = join(import.meta.dirname, 'main.ts')

test('bash completes what follows help and mcp-config', () => {
  const { stdout: script } = spawnSync(process.execPath, [main, 'completion', 'bash'], { encoding: 'utf8' })
  const complete = (...words: string[]) => {
    const ask = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}`
    const input = `${script}\n${ask}; _roost; echo "\${COMPREPLY[@]}"`
    return spawnSync('bash', [], { input, encoding: 'utf8' }).stdout.trim()
  }
  assert.equal(complete('roost', 'help', 'ag'), 'agents')
  assert.equal(complete('roost', 'mcp-config', 'cl'), 'claude-code claude-desktop')
  assert.equal(complete('roost', 'servers', ''), 'list use')
})
