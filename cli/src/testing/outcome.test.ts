import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../machine/repository.ts'
import { afterSecondRun, coverageLines, type FileOutcome, secondRun, timeLines } from './outcome.ts'
import { runFiles, runTests } from './stages.ts'

const failed = (path: string): FileOutcome => ({
  path,
  counts: { passed: 2, failed: 1, skipped: 1 },
  seconds: 1,
  isGreen: false,
})
const green = (path: string, seconds: number): FileOutcome => ({
  path,
  counts: { passed: 5, failed: 0, skipped: 0 },
  seconds,
  isGreen: true,
})

test('a few failed files run again, many do not', () => {
  assert.deepEqual(secondRun({ files: [failed('/a'), green('/b', 1)] }), ['/a'])
  const many = Array.from({ length: 7 }, (_, index) => failed(`/${index}`))
  assert.deepEqual(secondRun({ files: many }), [])
})

test('the second result of a file replaces the first; a file that fails twice has failed', () => {
  const first = { counts: { passed: 7, failed: 2, skipped: 1 }, files: [failed('/a'), green('/b', 1)] }
  const repeated = { ...green('/a', 1), counts: { passed: 3, failed: 0, skipped: 1 } }
  const passed = afterSecondRun(first, { counts: { passed: 3, failed: 0, skipped: 1 }, files: [repeated] })
  assert.deepEqual(passed, { passed: 8, failed: 0, skipped: 1 })
  const twice = afterSecondRun(first, { counts: { passed: 2, failed: 1, skipped: 1 }, files: [failed('/a')] })
  assert.deepEqual(twice, { passed: 7, failed: 1, skipped: 1 })
})

test('the longest areas and the slowest files are listed first', () => {
  const files = [
    green('/root/x/a/fast.test.ts', 1),
    green('/root/y/b/slow.test.ts', 62.4),
    green('/root/y/b/c/slower.test.ts', 90),
  ]
  assert.deepEqual(timeLines({ files }, '/root'), [
    'Time by area: y/b 2.5 min, x/a 0.0 min',
    'Slowest files: c/slower 90 s, b/slow 62 s, a/fast 1 s',
  ])
})

test('a real run reports each file: passed, failed, exited early, never ended', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-outcome-'))
  try {
    const path = (name: string) => join(folder, `${name}.test.ts`)
    const start = "import { test } from 'node:test'\ntest('one', () => {})\n"
    await writeFile(path('green'), `${start}test('two', { skip: true }, () => {})\n`)
    await writeFile(path('red'), `${start}test('two', () => { throw new Error('no') })\n`)
    await writeFile(path('torn'), `${start}process.exit(3)\n`)
    const leftOpen = "spawn('sleep', ['600'], { stdio: 'inherit' })\nsetInterval(() => {}, 1000)\n"
    await writeFile(path('open'), `import { spawn } from 'node:child_process'\n${start}${leftOpen}`)
    const paths = [path('green'), path('red'), path('torn'), path('open')]
    // Without this, the inner runner would see the outer one and run nothing.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const stage = {
      env: { ...env, ROOST_TEST_GRACE_MS: '200' },
      signal: new AbortController().signal,
      isQuiet: true,
    }
    const { isGreen, outcome } = await runFiles(paths, [], stage)
    assert.equal(isGreen, false)
    assert.deepEqual(outcome?.counts, { passed: 3, failed: 3, skipped: 1 })
    const results = outcome?.files.map((file) => [file.path, file.isGreen]) ?? []
    assert.deepEqual(results.sort(), [
      [path('green'), true],
      [path('open'), false],
      [path('red'), false],
      [path('torn'), false],
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a file that would start after the deadline is left out, without failing the run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-late-'))
  try {
    const path = join(folder, 'late.test.ts')
    await writeFile(path, "import { test } from 'node:test'\ntest('one', () => { throw new Error('no') })\n")
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const stage = { env, signal: new AbortController().signal, isQuiet: true }
    const late = await runFiles([path], [], { ...stage, startUntil: Date.now() - 1 })
    assert.deepEqual([late.isGreen, late.leftOut, late.outcome?.counts.failed], [true, [path], 0])
    const early = await runFiles([path], [], { ...stage, startUntil: Date.now() + 600_000 })
    assert.deepEqual([early.isGreen, early.leftOut], [false, []])
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('branch coverage is printed per package, and files below 70 % are listed, the lowest first', () => {
  const file = (path: string, covered: number, branches: number) => ({
    path: `/root/${path}`,
    covered,
    branches,
  })
  const coverage = [
    file('server/src/a.ts', 9, 10),
    file('server/src/b.ts', 6, 10),
    file('agent/src/c.ts', 0, 4),
    file('agent/src/types.ts', 0, 0),
  ]
  assert.deepEqual(coverageLines(coverage, '/root'), [
    'Branch coverage: agent 0.0 %, server 75.0 %',
    'Files with less than 70 % of their branches covered: 2',
    '    0 %  agent/src/c.ts',
    '   60 %  server/src/b.ts',
  ])
  assert.deepEqual(coverageLines([], '/root'), [])
})

test('a measured run reports the branches of sources, not of tests, and counts the other files too', async () => {
  const { NODE_TEST_CONTEXT: _, NODE_V8_COVERAGE: __, ...env } = process.env
  const unit = 'server/src/kit/figures.test.ts'
  const other = 'contracts/src/kit/csv.test.ts'
  const stage = { env, signal: AbortSignal.timeout(60_000), isQuiet: true }
  const alone = await runFiles([unit], [], stage)
  const { isGreen, counts, coverage } = await runTests([unit, other], [], {
    ...stage,
    measuresCoverage: true,
  })
  assert.ok(isGreen)
  assert.ok((counts?.passed ?? 0) > (alone.outcome?.counts.passed ?? 0))
  const paths = coverage.map(({ path }) => path)
  assert.ok(paths.includes(join(repository.root, 'server/src/kit/figures.ts')), paths.join())
  assert.ok(!paths.includes(join(repository.root, unit)))
  assert.ok(coverage.every(({ covered, branches }) => covered > 0 || branches === 0))
})
