import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { guidePath, headingsOf, navigationOf, resolveLink, sectionsOf } from './guide-text.ts'

const docs = join(import.meta.dirname, '../../../../docs')
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md'))
  .map((path) => path.slice(0, -'.md'.length))
const read = (page: string) => readFileSync(join(docs, `${page}.md`), 'utf8')

test('headings have the anchors of GitHub; a comment in a code block is no heading', () => {
  const markdown = '# Title\n\n## Keys & `roost up`\n\n```sh\n# Not a heading\n```\n\n## Keys & roost up\n'
  assert.deepEqual(
    headingsOf(markdown).map(({ line, depth, slug }) => [line, depth, slug]),
    [
      [1, 1, 'title'],
      [3, 2, 'keys--roost-up'],
      [9, 2, 'keys--roost-up-1'],
    ],
  )
})

test('sections hold prose, code and table cells without marks', () => {
  const markdown =
    '# T\n\nStart with [a link](x.md).\n\n## Next\n\n| a | b |\n|---|---|\n| `c` | d |\n\n```sh\nroost up\n```\n'
  assert.deepEqual(sectionsOf(markdown), [
    { heading: '', slug: '', text: 'Start with a link.' },
    { heading: 'Next', slug: 'next', text: 'a b c d roost up' },
  ])
})

test('links resolve relative to their page', () => {
  assert.deepEqual(resolveLink('how-to/chat', '../operate/keys.md#scopes'), {
    kind: 'guide',
    page: 'operate/keys',
    hash: 'scopes',
  })
  assert.deepEqual(resolveLink('tutorial', '#next'), { kind: 'guide', page: 'tutorial', hash: 'next' })
  assert.deepEqual(resolveLink('README', '../ARCHITECTURE.md'), { kind: 'file', path: 'ARCHITECTURE.md' })
  assert.deepEqual(resolveLink('tutorial', 'tutorial/chat.webp'), {
    kind: 'file',
    path: 'docs/tutorial/chat.webp',
  })
  for (const url of ['https://example.com/x.md', 'mailto:a@example.com', '/docs'])
    assert.deepEqual(resolveLink('tutorial', url), { kind: 'other' })
  assert.equal(guidePath('README'), '/help')
  assert.equal(guidePath('operate/keys', 'scopes'), '/help/operate/keys#scopes')
  assert.equal(guidePath('reference/errors', 'queue_full'), '/help/errors/queue_full')
})

test('the navigation leads to every guide exactly once', () => {
  const listed = navigationOf(read('README')).flatMap((group) => group.pages.map(({ page }) => page))
  const guides = pages.filter((page) => page !== 'README' && !/^decisions\/\d/.test(page))
  assert.deepEqual(listed.toSorted(), guides.toSorted())
})

test('every link between pages leads to a page, and every anchor to a heading', () => {
  const problems: string[] = []
  let links = 0
  for (const page of pages) {
    for (const [, url = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      const link = resolveLink(page, url)
      if (link.kind !== 'guide') continue
      links += 1
      const isThere =
        pages.includes(link.page) &&
        (link.hash === '' || headingsOf(read(link.page)).some(({ slug }) => slug === link.hash))
      if (!isThere) problems.push(`docs/${page}.md: ${url}`)
    }
  }
  assert.ok(links > 200)
  assert.deepEqual(problems, [])
})
