import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { nextSteps } from './next-steps.ts'

const ready = {
  type: 'ready',
  url: 'http://localhost:8123',
  docs_url: 'http://localhost:8123/docs',
  setup_completed: false,
  containers: 'docker',
  notices: ['be careful'],
} as const

test('a new installation gets five valid shell commands with the real address', () => {
  const lines = nextSteps({ ...ready, notices: [...ready.notices] }, 'pass-word_1')
  const commands = lines.filter((line) => /^(curl|TOKEN=)/.test(line))
  assert.equal(commands.length, 5)
  for (const command of commands) {
    assert.ok(command.includes(ready.url))
    execFileSync('sh', ['-n', '-c', command])
  }
  assert.match(commands[4] ?? '', /-sN .*\/chat/)
  assert.ok(lines.some((line) => line.includes(ready.docs_url)))
  assert.ok(lines.some((line) => line.includes('be careful')))
})

test('without curl the output says how to install it', () => {
  const pattern = /apt-get install curl/
  for (const setup_completed of [true, false]) {
    const state = { ...ready, notices: [], setup_completed }
    assert.match(nextSteps(state, 'p', false).join('\n'), pattern)
    assert.doesNotMatch(nextSteps(state, 'p').join('\n'), pattern)
  }
})

test('the token command stores only the token in the variable', () => {
  const line = nextSteps({ ...ready, notices: [] }, 'p').find((each) => each.startsWith('TOKEN=')) ?? ''
  const answer = '{"access_token":"abc.def-g_h","token_type":"bearer"}'
  const script = `curl() { printf '%s' '${answer}'; }; ${line}; printf '%s' "$TOKEN"`
  assert.equal(execFileSync('sh', ['-c', script], { encoding: 'utf8' }), 'abc.def-g_h')
})

test('an installation with a password gets sign-in commands and no setup', () => {
  const text = nextSteps({ ...ready, notices: [], setup_completed: true }, 'secret').join('\n')
  assert.doesNotMatch(text, /admin-password|secret/)
  assert.match(text, /TOKEN=/)
})
