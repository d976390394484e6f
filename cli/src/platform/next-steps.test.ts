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

test('a new installation gets five lines that a shell understands, with the real address', () => {
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

test('where curl is missing, what to do first is said', () => {
  const words = /apt-get install curl/
  for (const setup_completed of [true, false]) {
    const state = { ...ready, notices: [], setup_completed }
    assert.match(nextSteps(state, 'p', false).join('\n'), words)
    assert.doesNotMatch(nextSteps(state, 'p').join('\n'), words)
  }
})

test('the line for the token puts the token, and nothing else, into the variable', () => {
  const line = nextSteps({ ...ready, notices: [] }, 'p').find((each) => each.startsWith('TOKEN=')) ?? ''
  const answer = '{"access_token":"abc.def-g_h","token_type":"bearer"}'
  const script = `curl() { printf '%s' '${answer}'; }; ${line}; printf '%s' "$TOKEN"`
  assert.equal(execFileSync('sh', ['-c', script], { encoding: 'utf8' }), 'abc.def-g_h')
})

test('an installation with a password is shown the way to sign in, and no set-up', () => {
  const text = nextSteps({ ...ready, notices: [], setup_completed: true }, 'secret').join('\n')
  assert.doesNotMatch(text, /admin-password|secret/)
  assert.match(text, /TOKEN=/)
})
