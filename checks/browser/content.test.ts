/** Untrusted content under the platform's policy: it stays text and renders fast. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { type ContentBench, openContentBench } from './content-bench.ts'
import { answer, hostile, logText, transcriptLines } from './content-samples.ts'

// Set by the page, see `web/src/test/content.tsx`.
declare const window: {
  show(content: object): void
  feed(text: string | null): void
  edited: { text: string; saves: number }
  harmed?: true
}

let bench: ContentBench
before(async () => {
  bench = await openContentBench()
})
after(() => bench?.[Symbol.asyncDispose]())

test('content runs nothing, loads nothing and links only to safe targets', async () => {
  await using tab = await bench.open()
  const { page } = tab
  const before = tab.requests.length
  await bench.show(page, { kind: 'markdown', text: hostile })
  await page.getByText('The end.').waitFor()
  const content = await page.evaluate(() => {
    const main = document.querySelector('main')
    const links = [...(main?.querySelectorAll('a') ?? [])]
    return {
      links: links.map((link) => ({
        href: link.href,
        protocol: link.protocol,
        rel: link.rel,
        target: link.target,
      })),
      elements: [...new Set([...(main?.querySelectorAll('*') ?? [])].map((element) => element.localName))],
      handlers: [...(main?.querySelectorAll('*') ?? [])].flatMap((element) =>
        element.getAttributeNames().filter((name) => name.startsWith('on')),
      ),
      harmed: window.harmed ?? false,
    }
  })
  assert.equal(content.harmed, false)
  assert.deepEqual(content.handlers, [])
  for (const tag of [
    'script',
    'iframe',
    'img',
    'object',
    'embed',
    'form',
    'style',
    'base',
    'meta',
    'video',
    'input',
  ])
    assert.ok(!content.elements.includes(tag), `there is a <${tag}>`)
  for (const { href, protocol, rel, target } of content.links) {
    assert.ok(['http:', 'https:', 'mailto:'].includes(protocol), href)
    if (!href.startsWith(bench.url)) assert.deepEqual([rel, target], ['noopener noreferrer', '_blank'], href)
  }
  assert.ok(content.links.some(({ href }) => href === 'https://good.example/'))
  // Only the code highlighter was loaded, from this site.
  for (const url of tab.requests.slice(before)) assert.ok(url.startsWith(bench.url), url)
  assert.deepEqual(tab.faults, [])
})

test('adversarially slow texts do not freeze the page', async (t) => {
  const samples: Record<string, string> = {
    'solid megabyte': 'x'.repeat(1_000_000),
    quotes: `${'>'.repeat(10_000)} deep`,
    'quotes with blanks': `${'> '.repeat(10_000)} deep`,
    lists: Array.from({ length: 2000 }, (_, depth) => `${'  '.repeat(depth)}- a`)
      .join('\n')
      .slice(0, 200_000),
    brackets: '['.repeat(50_000),
    links: '[a](b'.repeat(10_000),
    stars: '*a **a '.repeat(8000),
    ticks: '`a``b'.repeat(8000),
    'open code': `\`\`\`js\n${'let a = "'.repeat(20_000)}`,
    table: `|${'a|'.repeat(20)}\n|${'-|'.repeat(20)}\n${`|${'b|'.repeat(20)}\n`.repeat(5000)}`,
    'many paragraphs': 'word *word* `word`\n\n'.repeat(3000),
  }
  const times: string[] = []
  await using tab = await bench.open()
  for (const [name, text] of Object.entries(samples)) {
    const ms = await bench.show(tab.page, { kind: 'markdown', text })
    times.push(`${name} ${Math.round(ms)} ms`)
    assert.equal(await bench.scrollsSideways(tab.page), false, `${name} scrolls the page sideways`)
    // Super-linear growth takes minutes; bench/pages.ts measures the rest.
    assert.ok(ms < 30_000, `${name} took ${ms} ms`)
  }
  assert.deepEqual(tab.faults, [])
  t.diagnostic(times.join(', '))
})

test('a growing answer keeps its finished blocks in place', async () => {
  await using tab = await bench.open()
  const text = answer(20_000)
  const { moved, blocks } = await tab.page.evaluate(async (whole) => {
    const finished = new Set<Element>()
    let moved = 0
    for (let length = 0; length <= whole.length; length += 20) {
      window.show({ kind: 'markdown', text: whole.slice(0, length), isStreaming: true })
      await new Promise(requestAnimationFrame)
      for (const element of finished) if (!element.isConnected) moved += 1
      const list = document.querySelector('main > div')?.children ?? []
      for (const element of [...list].slice(0, -1)) finished.add(element)
    }
    return { moved, blocks: finished.size }
  }, text)
  assert.ok(blocks > 30, `${blocks} blocks`)
  assert.equal(moved, 0)
  assert.deepEqual(tab.faults, [])
})

test('an answer that ends inside a code block shows it as code', async () => {
  await using tab = await bench.open()
  await bench.show(tab.page, { kind: 'markdown', text: 'Look:\n\n```ts\nconst a = "<b>', isStreaming: true })
  assert.equal(await tab.page.locator('pre code').textContent(), 'const a = "<b>')
})

test('a diagram is drawn once its text is complete; one that cannot be drawn stays text', async () => {
  await using tab = await bench.open()
  const { page } = tab
  const fence = (text: string) => `\`\`\`mermaid\n${text}\n\`\`\``
  const whole = `Before\n\n${fence('graph TD\n  A[Plan] --> B[Build]')}`
  await bench.show(page, { kind: 'markdown', text: whole.slice(0, -4), isStreaming: true })
  assert.equal(await page.locator('pre code').count(), 1)
  assert.equal(await page.getByRole('img').count(), 0)
  await bench.show(page, { kind: 'markdown', text: whole })
  const drawn = page.getByRole('img', { name: /^Diagram/ })
  await drawn.waitFor()
  assert.match(decodeURIComponent((await drawn.getAttribute('src')) ?? ''), /^data:image\/svg\+xml.*Build/s)
  await page.getByText('Text version').click()
  assert.match((await page.locator('pre code').textContent()) ?? '', /A\[Plan\]/)

  const hostile = 'graph TD\n  A["<script>window.harmed = true</script>"] --> B[<img src=x onerror=alert(1)>]'
  const many = [
    fence('not a diagram'),
    fence(hostile),
    ...Array.from({ length: 20 }, (_, n) => fence(`graph TD\n  A${n} --> B${n}`)),
  ]
  await bench.show(page, { kind: 'markdown', text: many.join('\n\nnext\n\n') })
  await page
    .getByText(/^Diagram not shown/)
    .first()
    .waitFor()
  await page
    .getByRole('img', { name: /^Diagram/ })
    .nth(19)
    .waitFor()
  assert.equal(await page.evaluate(() => window.harmed), undefined)
  assert.deepEqual(tab.faults, [])
})

test('a code block is saved under the name of its language', async () => {
  await using tab = await bench.open()
  const { page } = tab
  await bench.show(page, { kind: 'markdown', text: '```python\nprint(1)\n```' })
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download code' }).click()
  const download = await saved
  assert.equal(download.suggestedFilename(), 'code.py')
  assert.equal(await readFile(await download.path(), 'utf8'), 'print(1)')
})

test('searches a log of 5 MB and renders only visible rows', async () => {
  await using tab = await bench.open()
  const { page } = tab
  const text = logText(5_000_000)
  await bench.show(page, { kind: 'log', text })
  await page.locator('[data-index]').first().waitFor()
  const rows = () => page.locator('[data-index]').count()
  assert.ok((await rows()) < 120)
  const field = page.getByLabel('Search log')
  await field.fill('NEEDLE')
  await page.getByRole('status').filter({ hasText: '1 of 3' }).waitFor()
  assert.equal(await page.locator('mark').first().textContent(), 'needle')
  await field.press('Enter')
  await page.getByRole('status').filter({ hasText: '2 of 3' }).waitFor()
  await page.getByRole('button', { name: 'Match case' }).click()
  await page.getByRole('status').filter({ hasText: /^0$/ }).waitFor()
  await page.getByRole('button', { name: 'Regular expression' }).click()
  await field.fill('(a+)+$|([a-z ]+)+!')
  await page
    .getByRole('status')
    .filter({ hasText: /Search timed out|^\d/ })
    .waitFor()
  await field.fill('(')
  await page.getByRole('status').filter({ hasText: 'Invalid regular expression' }).waitFor()
  await page.getByRole('button', { name: 'Wrap long lines' }).click()
  assert.ok((await rows()) < 200)
  assert.deepEqual(tab.faults, [])
})

test('a live log follows its end until the reader scrolls away', async () => {
  await using tab = await bench.open()
  const { page } = tab
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')
  await bench.show(page, { kind: 'log', text: lines(500), isLive: true })
  await page.getByText('line 500', { exact: true }).waitFor()
  await bench.show(page, { kind: 'log', text: lines(600), isLive: true })
  await page.getByText('line 600', { exact: true }).waitFor()
  await page.getByRole('group', { name: 'Log' }).hover()
  await page.mouse.wheel(0, -2000)
  await page.getByRole('button', { name: 'Follow' }).waitFor()
  await bench.show(page, { kind: 'log', text: lines(625), isLive: true })
  await page.getByRole('button', { name: '25 new lines' }).click()
  await page.getByText('line 625', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  assert.deepEqual(tab.faults, [])
})

test('a transcript of 5,000 lines opens at any line and grows incrementally', async () => {
  await using tab = await bench.open({ hash: '#L4001' })
  const { page } = tab
  const lines = transcriptLines(5000)
  await bench.show(page, { kind: 'transcript', lines })
  const target = page.locator('[aria-current=location]')
  await target.waitFor()
  await target.getByRole('link', { name: 'Line 4001' }).waitFor()
  await page.waitForFunction(() => {
    const place = document.querySelector('[aria-current=location]')?.getBoundingClientRect()
    return place !== undefined && place.top < innerHeight
  })
  const built = await page.locator('main li li').count()
  assert.ok(built < 400, `${built} steps are built`)
  await page.getByRole('button', { name: /^Bash/ }).first().click()
  await page.getByText('Run the tests', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Raw lines' }).click()
  await page.getByRole('group', { name: 'Raw lines' }).waitFor()
  assert.deepEqual(tab.faults, [])
})

test('a live run streams, survives a broken connection and ends', async () => {
  await using tab = await bench.open()
  const { page } = tab
  const feed = (...objects: Record<string, unknown>[]) =>
    page.evaluate(
      (text) => window.feed(text),
      objects
        .map((object) => `${object._n ? `id: ${object._n}\n` : ''}data: ${JSON.stringify(object)}\n\n`)
        .join(''),
    )
  const says = (n: number, text: string) => ({
    _n: n,
    type: 'assistant',
    message: { content: [{ type: 'text', text }] },
  })
  const status = (state: string) => page.getByRole('status').filter({ hasText: state }).waitFor()
  await bench.show(page, { kind: 'live' })
  await status('open')
  await feed({ type: 'partial', kind: 'text', text: 'Hel' })
  await page.getByText('Hel', { exact: true }).waitFor()
  await feed(says(1, 'Hello.'), { type: 'partial', kind: 'text', text: 'And th' })
  await page.getByText('And th', { exact: true }).waitFor()
  await page.evaluate(() => window.feed(null))
  await status('waiting')
  await status('open')
  await feed(says(1, 'Hello.'), says(2, 'And then.'), { type: 'stream_end', status: 'success' })
  await status('ended')
  assert.deepEqual(await page.locator('main li p').allTextContents(), ['Hello.', 'And then.'])
  assert.deepEqual(tab.faults, [])
})

test('the editor edits, saves and searches, and is styled under the policy', async () => {
  await using tab = await bench.open()
  const { page } = tab
  await bench.show(page, { kind: 'editor', text: '{"a": 1}', language: 'json' })
  const editor = page.getByRole('textbox', { name: 'File' })
  await editor.click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('x')
  await page.keyboard.press('Control+s')
  assert.deepEqual(await page.evaluate(() => window.edited), { text: 'x{"a": 1}', saves: 1 })
  await page.keyboard.press('Control+f')
  await page.getByPlaceholder('Find').waitFor()
  assert.deepEqual(tab.faults, [])
})

test('content renders in both themes, on desktops and phones', async () => {
  await bench.review('markdown', { kind: 'markdown', text: answer(3000) }, (page) =>
    page.locator('pre span').first().waitFor(),
  )
  const diagram = '```mermaid\ngraph LR\n  A[Plan] --> B[Build] --> C[Check]\n```'
  await bench.review('diagram', { kind: 'markdown', text: diagram }, (page) =>
    page.getByRole('img', { name: /^Diagram/ }).waitFor(),
  )
  await bench.review('hostile', { kind: 'markdown', text: hostile }, (page) =>
    page.getByText('The end.').waitFor(),
  )
  await bench.review('log', { kind: 'log', text: logText(20_000), isLive: true }, (page) =>
    page.getByText('ready').first().waitFor(),
  )
  await bench.review('transcript', { kind: 'transcript', lines: transcriptLines(40) }, async (page) => {
    for (const tool of [/^Bash/, /^Edit/]) await page.getByRole('button', { name: tool }).first().click()
    await page
      .getByRole('button', { name: /^Thought/ })
      .first()
      .click()
    await page.locator('pre span').first().waitFor()
  })
  await bench.review('editor', { kind: 'editor', text: answer(1200), language: 'md' }, async (page) => {
    await page.getByRole('textbox', { name: 'File' }).click()
    await page.keyboard.press('Control+f')
    await page.getByPlaceholder('Find').fill('code')
  })
})
