/** The guides inside the web UI. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Bench, closeTab, openBench, reviewPage, widths } from './bench.ts'
import { reportFailure } from './evidence.ts'

describe('the guides', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const title = (name: string) => (page: Page) => page.getByRole('heading', { name, level: 1 }).waitFor()
  for (const { name, path, ready } of [
    { name: 'help', path: '/help', ready: title('Documentation') },
    { name: 'help-tutorial', path: '/help/tutorial', ready: title('Tutorial: your first agent') },
    {
      name: 'help-diagrams',
      path: '/help/concepts/runs',
      ready: (page: Page) =>
        page
          .getByRole('img', { name: /^Diagram/ })
          .first()
          .waitFor(),
    },
    {
      name: 'help-search',
      path: '/help?q=webhook',
      ready: (page: Page) => page.getByText(/sections$/).waitFor(),
    },
    {
      name: 'help-unknown',
      path: '/help/no/such',
      ready: (page: Page) => page.getByText('Guide not found').waitFor(),
    },
  ])
    test(`${name}: no axe violations, overflow or errors in both themes and widths, without sign-in`, () =>
      reviewPage(bench, { name, path, ready, token: null }))

  test('a reader follows links between pages, to a section and to the page of an error code', async () => {
    const tab = await bench.open({ token: null })
    const { page } = tab
    await tab.goto('/help')
    const article = page.getByRole('article')
    await article.getByRole('link', { name: 'Tasks and fan-out' }).click()
    await page.getByRole('heading', { name: 'Tasks and fan-out', level: 1 }).waitFor()
    assert.equal(await page.title(), 'Tasks and fan-out · Guides · Roost')
    const contents = page.getByRole('navigation', { name: 'On this page' })
    const section = contents.getByRole('link').last()
    const name = (await section.textContent()) ?? ''
    await section.click()
    assert.ok(
      await article
        .getByRole('heading', { name, level: 2 })
        .evaluate((node) => `#${node.id}` === location.hash),
    )
    await page
      .getByRole('navigation', { name: 'Guides', exact: true })
      .getByRole('link', { name: 'Errors' })
      .click()
    await article.getByRole('link', { name: 'queue_full', exact: true }).first().click()
    await page.getByRole('heading', { name: 'queue_full' }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/help/errors/queue_full')
    await page.getByRole('link', { name: 'Guides' }).click()
    await page.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor()
    await closeTab(tab)
  })

  test('a deep link shows its section', async () => {
    const tab = await bench.open({ token: null })
    await tab.goto('/help/concepts/runs#the-states')
    const heading = tab.page.getByRole('heading', { name: 'The states' })
    await heading.waitFor()
    await tab.page.waitForFunction(() => {
      const top = document.getElementById('the-states')?.getBoundingClientRect().top ?? -1
      return top >= 0 && top < 200
    })
    await closeTab(tab)
  })

  test('the keyboard alone searches, and opens a result and the page of an error code', async () => {
    const tab = await bench.open({ token: null })
    const { page } = tab
    await tab.goto('/help/tutorial')
    await page.getByRole('heading', { name: 'Tutorial: your first agent' }).waitFor()
    assert.ok(
      !tab.requests.some((request) => request.includes('/assets/guide-index-')),
      'the index loads on demand',
    )
    const search = page.getByRole('searchbox', { name: 'Search the guides' })
    await search.focus()
    await page.keyboard.type('public links')
    const results = page.getByRole('main').getByRole('listitem').getByRole('link')
    await results.first().waitFor()
    assert.ok(page.url().includes('q=public'), page.url())
    await results.first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Public links', level: 1 }).waitFor()
    await search.fill('agent_quota_exceeded')
    await page.getByRole('main').locator('a[href="/help/errors/agent_quota_exceeded"]').first().focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'agent_quota_exceeded' }).waitFor()
    await closeTab(tab)
  })

  test('a phone folds the navigation, and code has a copy button', async () => {
    const tab = await bench.open({ token: null, width: widths.phone })
    const { page } = tab
    await tab.goto('/help/operate/webhooks')
    await page.getByRole('button', { name: 'Copy code' }).first().waitFor()
    await page.getByText('All guides', { exact: true }).click()
    await page
      .getByRole('navigation', { name: 'Guides', exact: true })
      .getByRole('link', { name: 'Keys' })
      .first()
      .click()
    await page.getByRole('heading', { name: /keys/i, level: 1 }).waitFor()
    await closeTab(tab)
  })

  test('a page of the application links to its guide, which opens apart', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/keys')
    await page.getByRole('button', { name: 'Help', exact: true }).click()
    const link = page.getByRole('link', { name: 'Guide: MCP keys' })
    assert.equal(await link.getAttribute('target'), '_blank')
    assert.equal(await link.getAttribute('href'), '/help/operate/keys')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Guides', exact: true }).waitFor()
    await closeTab(tab)
  })
})
