import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brokenLinks, mapProblems, recordProblems, unlistedPages, walkProblems } from './documents.ts'

const record = (number: number, title: string, more = '') => ({
  name: `${String(number).padStart(4, '0')}-topic.md`,
  text: `# ${number}. ${title}\n\n## Context\n\n${more}\n\n## Decision\n\n## Consequences\n`,
})
const row = (number: number, title: string) =>
  `| ${number} | [${title}](${String(number).padStart(4, '0')}-topic.md) |`
const [first, third] = [record(1, 'Cron: skip the hour'), record(3, 'Queues')]
const index = [row(1, 'Cron: skip the hour'), row(3, 'Queues'), '', 'Numbers 2 were never used.'].join('\n')

test('a complete index of well-formed records has no problem', () => {
  assert.deepEqual(recordProblems(index, [first, third]), [])
})

test('the index must list every record under its own title and name the unused numbers', () => {
  const [missing] = recordProblems(index, [first, third, record(4, 'New')])
  assert.match(missing ?? '', /lacks the row \| 4 \| \[New\]/)
  assert.equal(recordProblems(index, [first, record(3, 'Other title')]).length, 2)
  assert.match(recordProblems(index, [first, record(5, 'Queues')]).join('\n'), /unused numbers 2, 3, 4/)
})

test('a record needs its number, its three sections and at most 60 lines', () => {
  const problems = (text: string) => recordProblems(index, [{ ...first, text }, third]).join('\n')
  assert.match(problems(first.text.replace('## Decision', '## Choice')), /"## Decision" is missing/)
  assert.match(problems(first.text.replace('# 1.', '# 2.')), /number of the file/)
  assert.match(problems(record(1, 'Cron: skip the hour', 'line\n'.repeat(60)).text), /more than 60 lines/)
})

test('a relative link must lead to a file; URLs and anchors are not checked', () => {
  const text = '[a](there.md) [b](../gone.md#part)\n[c](https://example.org/x) [d](#below)'
  assert.deepEqual(
    brokenLinks('docs/operate/page.md', text, (path) => path === 'docs/operate/there.md'),
    ['docs/operate/page.md:1: the link to ../gone.md leads nowhere'],
  )
})

test('each step of a walk names a file or folder', () => {
  const map = '## Walks\n\n```\nhttp/serve → guard\n → runs/gone/accept   POST /api/x\n```\n\n## Glossary\n'
  const exists = (path: string) => path === 'server/src/http/serve.ts'
  assert.deepEqual(walkProblems(map, exists), [
    'ARCHITECTURE.md: the walk names runs/gone/accept, which does not exist',
  ])
  assert.equal(walkProblems('## Walks\n\n## Glossary\n', exists).length, 1)
})

test('the table of features names every folder and no other', () => {
  const table = '| area | features |\n|---|---|\n| `server/src/runs/` | broker, tasks |\n'
  const problems = (features: string[]) => mapProblems(table, new Map([['server/src/runs/', features]]))
  assert.deepEqual(problems(['broker', 'tasks']), [])
  assert.deepEqual(problems(['broker', 'tasks', 'queue']), ['ARCHITECTURE.md: server/src/runs/ lacks queue'])
  assert.deepEqual(problems(['broker']), ['ARCHITECTURE.md: server/src/runs/tasks does not exist'])
  assert.equal(mapProblems(table, new Map([['server/src/skills/', []]])).length, 1)
})

test('the index of the documentation links to every page', () => {
  const index = 'See [a](how-to/a.md), [b](operate/b.md#part).'
  assert.deepEqual(unlistedPages(index, ['how-to/a.md', 'operate/b.md']), [])
  assert.deepEqual(unlistedPages(index, ['how-to/c.md']), ['docs/README.md: no link leads to how-to/c.md'])
})
