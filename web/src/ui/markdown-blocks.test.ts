import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTooMuch, type MarkdownBlock, markdownBlocks, markdownParts } from './markdown-blocks.ts'

const short = (block: MarkdownBlock) =>
  block.kind === 'code'
    ? `${block.isClosed ? 'code' : 'open'} ${block.language}: ${block.code}`
    : block.source.trimEnd()
const cut = (text: string) => markdownParts(text).map(short)

test('a text is split at the ends of its parts', () => {
  assert.deepEqual(cut('# One\n\nTwo\nstill two\n\n\n> three\n\n> four\n\n| a |\n|---|\n| 1 |\n'), [
    '# One',
    'Two\nstill two',
    '> three',
    '> four',
    '| a |\n|---|\n| 1 |',
  ])
})

test('lists stay whole: blank lines, nested parts, text before them', () => {
  for (const text of [
    '- a\n\n- b\n\n  more of b\n\n      code',
    'Intro\n- a\n\n- b',
    '1. a\n\n   ```js\n   x\n\n   y\n   ```\n\n2. b',
    '- a\n\n  ```\n  open',
  ])
    assert.deepEqual(cut(text), [text])
  assert.deepEqual(cut('- a\n\nafter'), ['- a', 'after'])
  assert.deepEqual(cut('- ```\n  open\n\nafter'), ['- ```\n  open', 'after'])
})

test('fenced code is a separate part, closed or not', () => {
  assert.deepEqual(cut('Look:\n```ts title="x"\na\n\n  b\n```\nthen'), ['Look:', 'code ts: a\n\n  b', 'then'])
  assert.deepEqual(cut('~~~~\n~~~\n```\n~~~~'), ['code : ~~~\n```'])
  assert.deepEqual(cut('```python\nprint(1)'), ['open python: print(1)'])
  assert.deepEqual(cut('```'), ['open : '])
  assert.deepEqual(cut('  ```\n  a\n b\n  ```'), ['code : a\nb'])
  assert.deepEqual(cut('```not a fence```\n\nb'), ['```not a fence```', 'b'])
})

test('indented code stays whole', () => {
  assert.deepEqual(cut('    a\n\n    b\n\nc'), ['    a\n\n    b', 'c'])
})

test('a link definition applies to every part that uses it', () => {
  assert.deepEqual(cut('See [Docs].\n\nNothing [here]\n\n[docs]: https://a.example'), [
    'See [Docs].\n\n[docs]: https://a.example',
    'Nothing [here]',
  ])
})

test('a text with footnotes stays whole', () => {
  const text = 'One[^1].\n\nTwo.\n\n[^1]: The note.'
  assert.deepEqual(cut(text), [text])
})

test('later text changes only the last part', () => {
  const text =
    'Intro **bold**\n\n- one\n- two\n\n  - deep\n\n```js\nlet a = 1\n\nlet b\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n> more\n\n1. x\n\n2. y\n\nEnd.\n'
  let before: string[] = []
  for (let length = 1; length <= text.length; length += 1) {
    const blocks = cut(text.slice(0, length))
    assert.deepEqual(blocks.slice(0, before.length - 1), before.slice(0, -1), `after ${length} characters`)
    before = blocks
  }
})

test('short parts share a block, long ones and code do not', () => {
  const long = 'word '.repeat(400).trim()
  assert.deepEqual(markdownBlocks(`a\n\nb\n\n\`\`\`\nc\n\`\`\`\n\nd\n\n${long}\n\ne`).map(short), [
    'a\n\nb',
    'code : c',
    `d\n\n${long}`,
    'e',
  ])
})

test('text that is slow to format is detected', () => {
  const much = [
    'x'.repeat(50_000),
    '>'.repeat(10_000),
    `${'> '.repeat(30)}a`,
    `${'- '.repeat(40)}a`,
    `${' '.repeat(200)}a`,
    '['.repeat(100),
    '*a **a '.repeat(2000),
    '<'.repeat(100),
    '[a](b'.repeat(2000),
    '`a``b'.repeat(1000),
  ]
  for (const text of much) assert.equal(isTooMuch(text), true, text.slice(0, 20))
  const fine = [
    'A **normal** paragraph with `code` and [a link](https://a.example). '.repeat(80),
    '> > > three deep',
    Array.from({ length: 300 }, (_, row) => `| ${row} | **b** | \`c\` |`).join('\n\n'),
    '- [ ] todo\n'.repeat(200),
    '---',
    `${'-'.repeat(200)}\n`,
  ]
  for (const text of fine) assert.equal(isTooMuch(text), false, text.slice(0, 20))
})

test('1 MB of any text is split in well under a second', () => {
  for (const text of [
    'x'.repeat(1e6),
    '\n'.repeat(1e6),
    '> '.repeat(5e5),
    '```\n'.repeat(25e4),
    '[a]: b\n'.repeat(15e4),
  ]) {
    const startedAt = performance.now()
    markdownBlocks(text)
    assert.ok(performance.now() - startedAt < 20_000, text.slice(0, 10))
  }
})
