import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openShell, outputProblem, shellExamples } from './shell-pages.ts'

test('a page has its shell examples in order, each with the output that follows it', () => {
  const page =
    '# T\n\n```sh\necho a \\\n  b\n\n# comment\nroost up\n```\n\n```\na b\n```\n\n```sh\ntrue\n```\n'
  assert.deepEqual(shellExamples(page), [
    {
      line: 3,
      commands: [
        { line: 4, text: 'echo a \\\n  b' },
        { line: 8, text: 'roost up' },
      ],
      shown: 'a b',
    },
    { line: 15, commands: [{ line: 16, text: 'true' }], shown: null },
  ])
})

test('outputs may differ in ids, times, durations and costs, and in nothing else', () => {
  const shown = 'ID   TOOK   COST\nHRFhglDyhMozGRm--ACHQg  2.1 s  $0.0003 2026-11-23 05:05:36'
  assert.equal(
    outputProblem(shown, 'ID  TOOK  COST\nE0QW1EU5QZ2QBxyRARCUoA  310 ms  $0.1 2030-01-01 00:00:00\n'),
    null,
  )
  assert.match(outputProblem(shown, 'ID  TOOK  PRICE\n') ?? '', /the page shows "ID/)
  assert.match(outputProblem('a', 'a\nb') ?? '', /does not show all/)
  assert.match(outputProblem('a\nb', 'b\na') ?? '', /the page shows "b"/)
  assert.equal(outputProblem('{"a":"…"} (x)', '{"a":"b\\"c"} (x)'), null)
})

test('a shell keeps variables between commands and reports a failing command', async () => {
  await using shell = openShell({ cwd: '/', env: { PATH: process.env.PATH } })
  assert.equal(await shell.run('WORD=hello'), '')
  assert.equal((await shell.run('echo "$WORD"; echo err >&2')).trim(), 'hello\nerr')
  await assert.rejects(shell.run('no-such-program'), /exit code 127 of: no-such-program/)
  await assert.rejects(shell.run('false | cat'), /exit code 1/)
})
