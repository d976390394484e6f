import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDotenv, readAssignments, readIniAssignments, rewriteAssignments } from './dotenv.ts'

const table: [title: string, text: string, expected: [name: string, value: string][]][] = [
  [
    'plain values',
    'A=1\nB = two words \n\tC=\n',
    [
      ['A', '1'],
      ['B', 'two words'],
      ['C', ''],
    ],
  ],
  [
    'export',
    'export A=1\nexport\tB=2\nexported=3',
    [
      ['A', '1'],
      ['B', '2'],
      ['exported', '3'],
    ],
  ],
  [
    'comments',
    '# A=1\n  # B=2\nC=3 # four\nD=a#b\nE=\t#five',
    [
      ['C', '3'],
      ['D', 'a#b'],
      ['E', ''],
    ],
  ],
  ['a value that starts with #', 'A=#1', [['A', '#1']]],
  ['a comment without a value', 'A= # none', [['A', '']]],
  [
    'a comment after quotes',
    `A="x" # y\nB='z' # w`,
    [
      ['A', 'x'],
      ['B', 'z'],
    ],
  ],
  ['literal single quotes', `A='$b \\n "c" # d'`, [['A', '$b \\n "c" # d']]],
  ['double quotes with escapes', 'A="a\\nb\\tc\\rd\\"e\\\\f\\$g # h"', [['A', 'a\nb\tc\rd"e\\f$g # h']]],
  [
    'an apostrophe in a plain value',
    "A=it's\nB=2",
    [
      ['A', "it's"],
      ['B', '2'],
    ],
  ],
  ['an unclosed quote', 'A="open', [['A', '"open']]],
  [
    'quoted values over several lines',
    `A="1\nB=2"\nC='3\nD=4'\nE=5`,
    [
      ['A', '1\nB=2'],
      ['C', '3\nD=4'],
      ['E', '5'],
    ],
  ],
  [
    'CRLF and CR line ends',
    'A=1\r\nB="x\r\ny"\rC=3',
    [
      ['A', '1'],
      ['B', 'x\ny'],
      ['C', '3'],
    ],
  ],
  ['a byte order mark', '\uFEFFA=1', [['A', '1']]],
  [
    'duplicates in order',
    'A=1\nB=2\nA=3',
    [
      ['A', '1'],
      ['B', '2'],
      ['A', '3'],
    ],
  ],
  ['equal signs in a value', 'URL=https://host/?a=b&c=d', [['URL', 'https://host/?a=b&c=d']]],
  ['lines that assign nothing', 'word\n=1\n1A=2\nA-B=3\nA.B=4\nexport C\n', []],
  ['a value with a NUL', 'A=1\nA=x\0y', [['A', '1']]],
  ['line separators inside a line', '# c\u2028A=1\nB=x # y\u2028z', [['B', 'x']]],
  [
    'names that objects use',
    '__proto__=1\nconstructor=2',
    [
      ['__proto__', '1'],
      ['constructor', '2'],
    ],
  ],
]
for (const [title, text, expected] of table) {
  test(`.env: ${title}`, () => {
    assert.deepEqual(
      readAssignments(text).map(({ name, value }) => [name, value]),
      expected,
    )
    assert.deepEqual(Object.entries(parseDotenv(text)), [...new Map(expected)])
  })
}

for (const [title, text] of table) {
  test(`rewriting finds the same assignments: ${title}`, () => {
    const found: [string, string][] = []
    const unchanged = rewriteAssignments(text, (name, value) => {
      found.push([name, value])
      return null
    })
    assert.equal(unchanged, text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'))
    const withoutNul = found.filter(([, value]) => !value.includes('\0'))
    assert.deepEqual(Object.fromEntries(withoutNul), parseDotenv(text))

    const replaced = rewriteAssignments(text, () => 'new')
    assert.ok(
      Object.values(parseDotenv(replaced)).every((value) => value === 'new'),
      replaced,
    )
  })
}

test('rewriting keeps everything around the values', () => {
  const text = '# keys\nexport A="1" # one\n  B = 2  # two\nC=3\nD= # none\n'
  const values: Record<string, string> = { A: 'x', B: 'y', D: 'z' }
  assert.equal(
    rewriteAssignments(text, (name) => values[name] ?? null),
    '# keys\nexport A=x # one\n  B = y  # two\nC=3\nD= z # none\n',
  )
})

test('.npmrc and .pypirc may use other names and a colon', () => {
  assert.deepEqual(
    readIniAssignments('//host/:_authToken=npm_1\n[pypi]\npassword: p w # c\n; x=1\nmy-key="a\\tb"'),
    [
      { name: '//host/:_authToken', value: 'npm_1' },
      { name: 'password', value: 'p w' },
      { name: 'my-key', value: 'a\tb' },
    ],
  )
})

test('a comment starts at the first # after a blank', () => {
  const values = ['x#y', 'x #y', 'x \t# y # z', '#y', 'x#a #b', `x${' '.repeat(100_000)}y`]
  assert.deepEqual(
    values.map((value) => parseDotenv(`A=${value}`).A),
    ['x#y', 'x', 'x', '#y', 'x#a', values.at(-1)],
  )
})
