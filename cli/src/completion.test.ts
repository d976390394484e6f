import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const main = join(import.meta.dirname, 'main.ts')

test('bash completes the word after help, mcp-config and servers', () => {
  const { stdout: script } = spawnSync(process.execPath, [main, 'completion', 'bash'], { encoding: 'utf8' })
  const complete = (...words: string[]) => {
    const invocation = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}`
    const input = `${script}\n${invocation}; _roost; echo "\${COMPREPLY[@]}"`
    return spawnSync('bash', [], { input, encoding: 'utf8' }).stdout.trim()
  }
  assert.equal(complete('roost', 'help', 'ag'), 'agents')
  assert.equal(complete('roost', 'mcp-config', 'cl'), 'claude-code claude-desktop')
  assert.equal(complete('roost', 'servers', ''), 'list use')
})
