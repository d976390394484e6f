import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definesCommands, formulaOf, markFormulas, withoutMarks } from './formulas.ts'

/** The formulas of a text as the page finds them. */
function found(source: string): (string | { display: string })[] {
  const spans = markFormulas(source).match(/`[\uE0F1\uE0F2][^`]*`/g) ?? []
  return spans.map((span) => {
    const formula = formulaOf(span.slice(1, -1))
    assert.ok(formula)
    return formula.isDisplay ? { display: formula.tex } : formula.tex
  })
}

test('finds inline and display formulas in both notations', () => {
  assert.deepEqual(found('Mass $m$ and energy $E = mc^2$.'), ['m', 'E = mc^2'])
  assert.deepEqual(found('So \\(a_1 + b\\), then'), ['a_1 + b'])
  assert.deepEqual(found('Then\n\n$$\n\\int_0^1 x\\,dx\n$$\n\nend'), [{ display: '\\int_0^1 x\\,dx' }])
  assert.deepEqual(found('\\[ x \\]'), [{ display: 'x' }])
  assert.deepEqual(found('in a line $$x$$ it is inline'), ['x'])
  assert.deepEqual(found('- first\n- $$x$$\n'), [{ display: 'x' }])
  assert.deepEqual(found('> $$\n> x\n> $$'), [{ display: 'x' }])
  assert.deepEqual(found('| $|a|$ | b |\n|---|---|'), ['|a|'])
  assert.deepEqual(found('($x$), “$y$” and $5$'), ['x', 'y', '5'])
})

test('amounts of money, variables and escapes stay text', () => {
  for (const text of [
    'It costs $5 and $10.',
    'It costs $5, or $10 a month, or US$3 and CA$ 4.',
    'between $5-$10 or 5$ to 10$',
    '$5 to 10$ of it',
    '$5/month and 10$/month',
    'Set $HOME and $PATH, or $HOME/bin:$PATH.',
    'echo "$A"/"$B"',
    'a \\$5 and \\$6 note',
    '$ x$ and $x $',
    '\\[not a link\\](https://a.example)',
    'f\\(x\\)',
    'open $x\n\nand later y$',
  ])
    assert.deepEqual(found(text), [], text)
  assert.deepEqual(found('$5 and $10 cost $x$'), ['x'])
})

test('code stays code', () => {
  for (const text of [
    'a `$x$` b',
    'a ``$x$ ` $y$`` b',
    '```\n$x$\n```',
    '- item\n  ~~~sh\n  $x$\n  ~~~',
    '```\n$x$\n~~~\n$y$',
  ])
    assert.equal(markFormulas(text), text)
  assert.deepEqual(found('```\n$x$\n```\nand $y$'), ['y'])
  assert.deepEqual(found('an unclosed ` and $y$'), ['y'])
})

test('the text of a formula survives as it was written', () => {
  const text = 'a $x|y_{`}$ b \\(\\frac{1}{2}\\) %41 ü'
  assert.equal(withoutMarks(markFormulas(text)), text)
  assert.deepEqual(found(text), ['x|y_{`}', '\\frac{1}{2}'])
  assert.equal(formulaOf('plain'), null)
})

test('long, open and broken input stays text and costs little time', () => {
  const startedAt = performance.now()
  assert.deepEqual(found(`$${'x'.repeat(2100)}$`), [])
  found('$x '.repeat(13_000))
  found('\\('.repeat(20_000))
  found('`$'.repeat(20_000))
  found('$$ '.repeat(13_000))
  assert.ok(performance.now() - startedAt < 20_000)
  assert.doesNotThrow(() => formulaOf('\uE0F1%E0%A4%A'))
  assert.equal(withoutMarks('`\uE0F1%`'), '\uE0F1%')
  assert.doesNotThrow(() => markFormulas('$\ud800$'))
})

test('knows formulas that define commands', () => {
  assert.equal(definesCommands('\\def\\a{\\a\\a}'), true)
  assert.equal(definesCommands('\\newcommand{\\a}{b}'), true)
  assert.equal(definesCommands('\\left( \\lettuce \\right)'), false)
})
