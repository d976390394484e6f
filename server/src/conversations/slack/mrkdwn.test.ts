import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toMrkdwn } from './mrkdwn.ts'
import { splitMarkdown } from './pieces.ts'

test("converts Markdown to Slack's markup", () => {
  const cases: [string, string][] = [
    ['**bold** *it* _it_ ~~gone~~ `a < b`', '*bold* _it_ _it_ ~gone~ `a &lt; b`'],
    ['# Title **x**\n\ntext', '*Title x*\n\ntext'],
    ['[docs](https://x.y/?a=1&b=2) <https://x.y>', '<https://x.y/?a=1&amp;b=2|docs> <https://x.y>'],
    ['![cat](https://x.y/c.png)', '<https://x.y/c.png|cat>'],
    ['[x](javascript:alert(1)) [y](/etc)', 'x y'],
    ['- one\n- two\n  - three\n\n3. x\n4. y', '• one\n• two\n    • three\n\n3. x\n4. y'],
    ['- [x] done\n- [ ] open', '☑ done\n☐ open'],
    ['> said\n> twice', '> said\n> twice'],
    ['```js\na < b\n```', '```\na &lt; b\n```'],
    ['| a | bb |\n|---|---|\n| 1 | <2> |', '```\na | bb\n--|----\n1 | &lt;2&gt;\n```'],
    ['a  \nb\n\n---', 'a\nb\n\n──────────'],
    ['a & b < c', 'a &amp; b &lt; c'],
    ['', ''],
  ]
  for (const [markdown, expected] of cases) assert.equal(toMrkdwn(markdown), expected)
})

test('no text can mention people or channels, wherever it appears', () => {
  const calls = '<!channel> <!here> <@U123> <!subteam^S1> <#C1>'
  for (const text of [
    calls,
    `\`${calls}\``,
    `    ${calls}`,
    `# ${calls}`,
    `[${calls}](https://x.y)`,
    `> ${calls}`,
  ]) {
    assert.doesNotMatch(toMrkdwn(text), /<[!@#]/, text)
  }
  assert.doesNotMatch(toMrkdwn('[x](https://x.y/|<!channel>)'), /<!/)
  assert.doesNotMatch(toMrkdwn('![<!channel>](https://x.y/a)'), /<!/)
})

test('a short answer is one piece, a long one is cut between paragraphs', () => {
  assert.deepEqual(splitMarkdown('short'), ['short'])
  assert.deepEqual(splitMarkdown('  \n '), [])
  const paragraphs = Array.from({ length: 9 }, (_, n) => `${n}`.repeat(40))
  const pieces = splitMarkdown(paragraphs.join('\n\n'), 100)
  assert.ok(pieces.every((piece) => piece.length <= 100))
  assert.equal(pieces.join('\n\n'), paragraphs.join('\n\n'))
})

test('a word without spaces is cut, but never within a character', () => {
  const pieces = splitMarkdown('😀'.repeat(200), 101)
  assert.equal(pieces.join(''), '😀'.repeat(200))
  assert.ok(pieces.every((piece) => piece.isWellFormed() && piece.length <= 101))
})

test('a code block that is cut is closed and reopened', () => {
  const lines = Array.from({ length: 30 }, (_, n) => `line ${n}`)
  const pieces = splitMarkdown(`before\n\n\`\`\`js\n${lines.join('\n')}\n\`\`\`\n\nafter`, 120)
  assert.ok(pieces.length > 2)
  for (const piece of pieces) assert.equal((piece.match(/^```/gm) ?? []).length % 2, 0, piece)
  const joined = pieces.join('\n').replaceAll(/^```.*\n?/gm, '')
  for (const line of lines) assert.ok(joined.includes(line), line)
  assert.match(toMrkdwn(pieces.at(-1) ?? ''), /after$/)
})
