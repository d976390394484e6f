/** The API reference at `/docs`. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertAccessible,
  assertNoSideways,
  type Bench,
  closeTab,
  lookAt,
  openBench,
  saveScreenshot,
  themes,
  widths,
} from './bench.ts'
import { reportFailure } from './evidence.ts'

describe('the API reference', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const heading = (name: string) => (page: Page) => page.getByRole('heading', { name, level: 1 }).waitFor()
  for (const { name, path, ready } of [
    { name: 'docs', path: '/docs', ready: heading('API reference') },
    { name: 'docs-operation', path: '/docs/createAgent', ready: heading('Create an agent and start it') },
    {
      name: 'docs-search',
      path: '/docs?q=webhook',
      ready: (page: Page) => page.getByText(/\d operations$/).waitFor(),
    },
    {
      name: 'docs-unknown',
      path: '/docs/noSuch',
      ready: (page: Page) => page.getByText('Operation not found').waitFor(),
    },
  ])
    test(`${name}: no axe violations, overflow or errors in both themes at 1440 and 390 pixels`, async () => {
      const tab = await bench.open({ token: null })
      for (const [screen, width] of [
        ['desktop', 1440],
        ['phone', 390],
      ] as const) {
        await tab.page.setViewportSize({ width, height: 860 })
        await tab.goto(path)
        await ready(tab.page)
        for (const theme of themes) {
          const what = `${name}-${theme}-${screen}`
          await tab.page.emulateMedia({ colorScheme: theme })
          await tab.page.locator(`html[data-theme=${theme}]`).waitFor()
          await saveScreenshot(tab, what)
          // The list of all operations is long, and its rules do not depend on both theme and width.
          const look = path === '/docs' ? lookAt(theme, screen === 'phone' ? widths.phone : width) : 'all'
          if (look) await assertAccessible(tab, what, look)
          await assertNoSideways(tab, what)
        }
      }
      await closeTab(tab)
    })

  test('the search finds operations by summary, path, field and error code, and opens one', async () => {
    const tab = await bench.open({ token: null })
    const { page } = tab
    await tab.goto('/docs')
    const search = page.getByRole('searchbox', { name: 'Search the API' })
    const results = page.getByRole('main').getByRole('link')
    for (const [query, path] of [
      ['create agent', '/api/agents'],
      ['/api/executions/stats', '/api/executions/stats'],
      ['signing_secret', '/api/agents/{name}/schedules/{id}/webhook'],
      ['reserved_agent_name', '/api/agents'],
    ] as const) {
      await search.fill(query)
      await results
        .filter({ has: page.getByText(path, { exact: true }) })
        .first()
        .waitFor()
    }
    await search.fill('create agent')
    await results.filter({ hasText: 'Create an agent and start it' }).click()
    await heading('Create an agent and start it')(page)
    assert.equal(new URL(page.url()).pathname, '/docs/createAgent')
    await closeTab(tab)
  })

  test('samples in three languages follow the values and never contain the session', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/docs/getAgent')
    await page.getByRole('textbox', { name: 'name (path)' }).fill('my-agent')
    const sample = page.getByRole('group', { name: /^Code, (sh|ts|python)/ })
    for (const [language, text] of [
      ['curl', /^curl .*\n.*\$ROOST_KEY/],
      ['TypeScript', /^const response = await fetch\(/],
      ['Python', /^import os\n\nimport requests/],
    ] as const) {
      await page.getByRole('radio', { name: language }).click()
      await sample.getByText('/api/agents/my-agent').waitFor()
      const code = (await sample.textContent()) ?? ''
      assert.match(code, text)
      assert.ok(!code.includes(bench.platform.token))
    }
    // The choice is kept for the next operation.
    await tab.goto('/docs/listAgents')
    assert.equal(await page.getByRole('radio', { name: 'Python' }).getAttribute('aria-checked'), 'true')
    await closeTab(tab)
  })

  test('a request is sent with the session: a read, a write, and an error of the API', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/docs/createAgent')
    const status = page.getByRole('status')
    const send = page.getByRole('button', { name: 'Send request' })
    await page.getByRole('textbox', { name: 'Body (application/json)' }).fill('{"name": "qa-docs"}')
    await send.click()
    await status.getByText('200').waitFor()
    await tab.goto('/docs/getAgent')
    await page.getByRole('textbox', { name: 'name (path)' }).fill('qa-docs')
    await send.click()
    await status.getByText('"qa-docs"').first().waitFor()
    await page.getByRole('textbox', { name: 'name (path)' }).fill('no-such')
    await send.click()
    await status.getByText('404').waitFor()
    await status.getByText('"agent_not_found"').waitFor()
    assert.equal((await bench.platform.request('GET', '/api/agents/qa-docs')).status, 200)
    await closeTab(tab)
  })

  test('without a session the form leads to the sign-in, and calls for anybody work', async () => {
    const tab = await bench.open({ token: null })
    const { page } = tab
    await tab.goto('/docs/listAgents')
    const send = page.getByRole('button', { name: 'Send request' })
    assert.ok(await send.isDisabled())
    const link = page.getByRole('main').getByRole('link', { name: 'Sign in' })
    assert.match((await link.getAttribute('href')) ?? '', /^\/login\?next=%2Fdocs%2FlistAgents$/)
    await tab.goto('/docs/getHealth')
    await send.click()
    await page.getByRole('status').getByText('200').waitFor()
    await closeTab(tab)
  })

  test('the theme menu works without a session', async () => {
    const tab = await bench.open({ token: null })
    const { page } = tab
    await tab.goto('/docs')
    await page.getByRole('button', { name: 'Theme' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Dark' }).click()
    await page.locator('html[data-theme=dark]').waitFor()
    await closeTab(tab)
  })
})
