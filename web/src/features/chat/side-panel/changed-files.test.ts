import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transcriptOf } from '../../transcripts/transcript-of.ts'
import { changedFiles, mayChangeFiles } from './changed-files.ts'

let line = 0
const call = (id: string, name: string, input: object) => ({
  type: 'assistant',
  _n: ++line,
  _ts: '2026-01-01T00:00:00.000Z',
  message: { content: [{ type: 'tool_use', id, name, input }] },
})
const result = (id: string, isError = false) => ({
  type: 'user',
  _n: ++line,
  _ts: '2026-01-01T00:00:01.000Z',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'ok', is_error: isError }] },
})
const run = (executionId: string, lines: object[]) => ({ executionId, steps: transcriptOf(lines).steps })

test('collects writes and edits by file, the latest file first', () => {
  const files = changedFiles([
    run('r1', [
      call('a', 'Write', { file_path: '/home/developer/notes.md', content: 'one\ntwo\n' }),
      result('a'),
      call('b', 'write_file', { path: './src/a.ts', content: 'a' }),
      result('b'),
    ]),
    run('r2', [
      call('c', 'MultiEdit', {
        file_path: '/home/developer/notes.md',
        edits: [
          { old_string: 'one\ntwo', new_string: 'one\n2\n3' },
          { old_string: 'x', new_string: '' },
        ],
      }),
      result('c'),
    ]),
  ])
  assert.deepEqual(
    files.map(({ path, added, removed, changes }) => [path, added, removed, changes.length]),
    [
      ['notes.md', 4, 2, 3],
      ['src/a.ts', 1, 0, 1],
    ],
  )
  const [notes] = files
  assert.deepEqual(
    notes?.changes.map(({ kind, executionId }) => [kind, executionId]),
    [
      ['write', 'r1'],
      ['edit', 'r2'],
      ['edit', 'r2'],
    ],
  )
  assert.deepEqual(
    notes?.changes[1]?.lines.map(({ text, old, now }) => [text, old, now]),
    [
      [' one', 1, 1],
      ['-two', 2, null],
      ['+2', null, 2],
      ['+3', null, 3],
    ],
  )
})

test('names files whose change the tool does not tell', () => {
  const [notebook, file] = changedFiles([
    run('r1', [
      call('a', 'Edit', { changes: [{ path: '/home/developer/a.txt', kind: 'add' }, {}] }),
      result('a'),
      call('b', 'NotebookEdit', { notebook_path: '/home/developer/b.ipynb', new_source: 'x' }),
      result('b'),
    ]),
  ])
  assert.deepEqual(notebook?.changes[0]?.kind, 'named')
  assert.deepEqual([file?.path, file?.changes[0]?.kind, file?.changes[0]?.lines], ['a.txt', 'named', []])
})

test('leaves out failed and open calls, commands, reads and tools of other servers', () => {
  const files = changedFiles([
    run('r1', [
      call('a', 'Write', { file_path: 'failed.txt', content: 'x' }),
      result('a', true),
      call('b', 'Bash', { command: 'echo x > shell.txt' }),
      result('b'),
      call('c', 'Read', { file_path: 'read.txt' }),
      result('c'),
      call('d', 'mcp__wiki__create_page', { path: 'page', content: 'x' }),
      result('d'),
      call('e', 'Write', { file_path: 'open.txt', content: 'x' }),
    ]),
  ])
  assert.deepEqual(files, [])
})

test('an empty file and a file outside of the workspace', () => {
  const files = changedFiles([
    run('r1', [call('a', 'Write', { file_path: '/tmp/empty', content: '' }), result('a')]),
  ])
  assert.deepEqual(
    files.map(({ path, added, changes }) => [path, added, changes[0]?.lines]),
    [['/tmp/empty', 0, []]],
  )
})

test('knows by its tools whether a run is worth reading', () => {
  assert.equal(mayChangeFiles(null), false)
  assert.equal(mayChangeFiles([{ tool: 'Bash' }, { tool: 'Read' }]), false)
  for (const tool of ['Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'replace', 'write_file', 'apply_patch'])
    assert.equal(mayChangeFiles([{ tool: 'Bash' }, { tool }]), true, tool)
})
