import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diffLines, diffParts } from './diff-lines.ts'

const diff = `diff --git a/CLAUDE.md b/CLAUDE.md
index 5626abf..814f4a4 100644
--- a/CLAUDE.md
+++ b/CLAUDE.md
@@ -1,2 +1,2 @@
 one
--- a line of dashes
+++ two
\\ No newline at end of file
diff --git a/picture.bin b/picture.bin
new file mode 100644
Binary files /dev/null and b/picture.bin differ
diff --git a/link b/link
deleted file mode 100644
--- a/link
+++ /dev/null
@@ -1 +0,0 @@
-text
diff --git a/link b/link
new file mode 120000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+target
diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
`

test('a diff is split by file; file lines that look like a heading stay file lines', () => {
  const parts = diffParts(diff)
  assert.deepEqual(
    parts.map(({ lines, isBinary }) => [lines.map(({ kind }) => kind), isBinary]),
    [
      [['place', 'same', 'removed', 'added', 'note'], false],
      [[], true],
      [['place', 'removed', 'place', 'added'], false],
      [[], false],
    ],
  )
  assert.equal(parts[0]?.lines[2]?.text, '--- a line of dashes')
})

test('text that is not a complete diff has no parts', () => {
  assert.deepEqual(diffParts(''), [])
  assert.deepEqual(diffParts('+one\n'), [])
})

const numbersOf = (lines: ReturnType<typeof diffLines>) => lines.map(({ kind, old, now }) => [kind, old, now])

test('lines have their numbers in the old and the new file, from the position of their hunk', () => {
  const [part] = diffParts(
    `diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -9,3 +9,4 @@ f()\n one\n-two\n+2\n+3\n four\n@@ -40 +41 @@\n-x\n+y\n`,
  )
  assert.deepEqual(numbersOf(part?.lines ?? []), [
    ['place', null, null],
    ['same', 9, 9],
    ['removed', 10, null],
    ['added', null, 10],
    ['added', null, 11],
    ['same', 11, 12],
    ['place', null, null],
    ['removed', 40, null],
    ['added', null, 41],
  ])
})

test('a diff without positions is numbered from 1, and a removed line of dashes is no file name', () => {
  assert.deepEqual(numbersOf(diffLines(' one\n--- dashes\n+++ two\n three\n')), [
    ['same', 1, 1],
    ['removed', 2, null],
    ['added', null, 2],
    ['same', 3, 3],
  ])
})

test('the names of files are notes, with and without a git heading', () => {
  const named = '--- a/x\n+++ b/x\n@@ -5 +5 @@\n-a\n+b\n'
  const hunk = [
    ['place', null, null],
    ['removed', 5, null],
    ['added', null, 5],
  ]
  const note = ['note', null, null]
  assert.deepEqual(numbersOf(diffLines(named)), [note, note, ...hunk])
  const git = diffLines(`diff --git a/x b/x\nindex 1..2 100644\n${named}${named}`)
  assert.deepEqual(numbersOf(git), [note, note, note, note, ...hunk, note, note, ...hunk])
})

test('each line of a long diff has a kind, so a diff keeps its colours at any length', () => {
  const lines = diffLines(
    Array.from({ length: 50_000 }, (_, at) => (at % 2 ? '+' : '-') + 'x'.repeat(9)).join('\n'),
  )
  assert.equal(lines.length, 50_000)
  assert.equal(lines.filter(({ kind }) => kind === 'added').length, 25_000)
  assert.deepEqual(lines.at(-1), { kind: 'added', text: '+xxxxxxxxx', old: null, now: 25_000 })
})
