import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diffParts } from './diff-lines.ts'

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
