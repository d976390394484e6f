import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differenceOf, languageOfPath, summaryOf, toolInputOf } from './tool-input.ts'

test('a call is recognized by its input, whatever the runtime names its tools', () => {
  assert.deepEqual(toolInputOf({ command: 'ls -l', description: 'List', timeout: 5 }), {
    kind: 'command',
    command: 'ls -l',
    description: 'List',
    rest: { timeout: 5 },
  })
  assert.deepEqual(toolInputOf({ command: ['git', 'status'] }), {
    kind: 'command',
    command: 'git status',
    description: null,
    rest: {},
  })
  assert.deepEqual(toolInputOf({ file_path: '/a.ts', old_string: 'x', new_string: 'y', replace_all: true }), {
    kind: 'edit',
    path: '/a.ts',
    edits: [{ before: 'x', after: 'y' }],
    rest: { replace_all: true },
  })
  assert.deepEqual(toolInputOf({ path: 'a', edits: [{ old_string: '1', new_string: '2' }, null] }), {
    kind: 'edit',
    path: 'a',
    edits: [{ before: '1', after: '2' }],
    rest: {},
  })
  assert.deepEqual(toolInputOf({ file_path: 'a', content: '' }), {
    kind: 'write',
    path: 'a',
    content: '',
    rest: {},
  })
  for (const input of [null, 'x', [], {}, { file_path: 'a' }, { command: 3 }])
    assert.deepEqual(toolInputOf(input), { kind: 'json', input })
})

test('the summary is one short line', () => {
  const table: [unknown, string][] = [
    [{ command: 'cd /tmp &&\n  ls' }, 'cd /tmp && ls'],
    [{ file_path: '/a.ts', content: 'long' }, '/a.ts'],
    [{ pattern: 'TODO', path: 'src' }, 'src'],
    [{ query: 'weather' }, 'weather'],
    [{ changes: [{ path: 'a' }, { path: 'b' }, 3] }, 'a, b'],
    [{ other: 1, words: 'said' }, 'said'],
    [null, ''],
    [[1], ''],
  ]
  for (const [input, summary] of table) assert.equal(summaryOf(input), summary)
  assert.equal(summaryOf({ command: 'x '.repeat(500_000) }).length, 200)
})

test('the language of a file follows from its name', () => {
  assert.deepEqual(['/a/b.TS', 'x.py', 'Makefile', '', 'a.constructor'].map(languageOfPath), [
    'typescript',
    'python',
    '',
    '',
    '',
  ])
})

test('an edit shows removed and added lines between unchanged ones', () => {
  assert.equal(differenceOf({ before: 'a\nb\nc', after: 'a\nx\ny\nc' }), ' a\n-b\n+x\n+y\n c')
  assert.equal(differenceOf({ before: '', after: 'a\n' }), '+a\n+')
  assert.equal(differenceOf({ before: 'a', after: 'a' }), ' a')
  assert.equal(differenceOf({ before: 'a\na', after: 'a' }), ' a\n-a')
})
