/** Checks that apply to every page: rendering, loading and background activity. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { eventually, signIn } from '../acceptance/platform.ts'
import { chat, createAgent } from '../acceptance/steps.ts'
import {
  assertAccessible,
  type Bench,
  closeTab,
  openBench,
  pageWeight,
  reviewPage,
  saveScreenshot,
  weighedPages,
  widths,
} from './bench.ts'
import { reportFailure } from './evidence.ts'

const kilobyte = 1024
/** A valid PNG. */
const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const longName = 'qa-a-name-that-goes-on-and-on-until-it-is-as-long-as-names-get'

describe('the pages of a small fleet', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    const { platform } = bench
    await createAgent(platform, 'qa-scout', { label: 'The Scout', tags: ['research', 'eu'] })
    await createAgent(platform, longName, {
      label: 'An agent whose label is far too long for any tile, any row and any header of this product',
    })
    for (const message of ['[[reply:fine]]', '[[fail]]']) await chat(platform, 'qa-scout', message)
    await platform.request('POST', '/api/mcp/keys', { name: 'CI', description: 'Used by the build' })
    for (const name of ['shared-plan', 'spare-plan'])
      await platform.request('POST', '/api/subscriptions', { name, token: `sk-ant-oat01-${name}` })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const heading = (name: string) => (page: Page) => page.getByRole('heading', { name }).first().waitFor()
  const pages: { name: string; path: string; ready(page: Page): Promise<unknown> }[] = [
    {
      name: 'agents-tiles',
      path: '/agents',
      ready: (page) => page.getByRole('link', { name: 'The Scout', exact: true }).waitFor(),
    },
    {
      name: 'agents-table',
      path: '/agents?view=table',
      ready: (page) => page.getByRole('grid', { name: 'Agents' }).getByText('The Scout').waitFor(),
    },
    {
      name: 'agents-no-match',
      path: '/agents?q=nothing-like-it',
      ready: (page) => page.getByText('No matching agents').waitFor(),
    },
    {
      name: 'create-agent',
      path: '/agents?create=true',
      ready: (page) => page.getByRole('dialog').waitFor(),
    },
    { name: 'settings-general', path: '/settings', ready: heading('All agents') },
    {
      name: 'settings-integrations',
      path: '/settings?tab=integrations',
      ready: (page) =>
        page.getByRole('list', { name: 'Provider subscriptions' }).getByText('7 days').first().waitFor(),
    },
    {
      name: 'settings-keys',
      path: '/keys',
      ready: (page) => page.getByText('Used by the build').waitFor(),
    },
    { name: 'settings-agents', path: '/settings?tab=agents', ready: heading('Parallel runs') },
    { name: 'settings-backups', path: '/settings?tab=backups', ready: heading('Repository') },
    { name: 'settings-retention', path: '/settings?tab=retention', ready: heading('Retention') },
    { name: 'account', path: '/account', ready: heading('Profile') },
    { name: 'agent-settings', path: '/agents/qa-scout?tab=settings', ready: heading('Circuit breaker') },
    { name: 'agent-long-name', path: `/agents/${longName}?tab=settings`, ready: heading('Circuit breaker') },
    {
      name: 'agent-unknown',
      path: '/agents/nobody',
      ready: (page) => page.getByText('Agent “nobody” not found').waitFor(),
    },
    { name: 'not-found', path: '/nowhere', ready: heading('Page not found') },
  ]
  for (const page of pages) {
    test(`${page.name}: no axe violations, overflow or errors in both themes and widths`, () =>
      reviewPage(bench, page))
  }

  test('shows a refused setting at its field and keeps the input', async () => {
    const tab = await bench.open()
    await tab.goto('/agents/qa-scout?tab=settings')
    const model = tab.page.getByLabel('Model', { exact: true })
    await model.fill('no-such-family')
    await tab.page.getByRole('button', { name: 'Save' }).first().click()
    await tab.page
      .getByText(/no-such-family/)
      .first()
      .waitFor()
    assert.equal(await model.inputValue(), 'no-such-family')
    await tab.context.close()
  })

  test('sets a spend cap, shows an error at its field, and removes it with an empty field', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/agents/qa-scout?tab=settings')
    const section = page.getByRole('region', { name: 'Spend caps' })
    const daily = section.getByLabel('Daily cap')
    const stored = async () =>
      (await bench.platform.request('GET', '/api/agents/qa-scout/spend-cap')).json.daily_usd
    await daily.fill('0')
    await section.getByRole('button', { name: 'Save' }).click()
    await section.getByText('must be above 0').waitFor()
    await daily.fill('2.5')
    await section.getByRole('button', { name: 'Save' }).click()
    await section.getByText(/of \$2\.50?$/).waitFor()
    assert.equal(await stored(), 2.5)
    await section.scrollIntoViewIfNeeded()
    await saveScreenshot(tab, 'agent-spend-light-desktop')
    await assertAccessible(tab, 'spend caps')
    await daily.fill('')
    await section.getByRole('button', { name: 'Save' }).click()
    await eventually(stored, (value) => value === null)
    await tab.context.close()
  })

  test('an admin chooses the OCI runtime of an agent; the information page shows the current one', async () => {
    const tab = await bench.open()
    const { page } = tab
    const read = async () =>
      (await bench.platform.request('GET', '/api/agents/qa-scout/isolation')).json.runtime
    await tab.goto('/agents/qa-scout?tab=settings')
    const form = page.getByRole('form', { name: 'Isolation' })
    for (const [option, stored] of [
      ['runc', 'runc'],
      ['Default (runc)', null],
    ] as const) {
      await form.getByRole('combobox', { name: 'OCI runtime' }).click()
      await page.getByRole('option', { name: option, exact: true }).click()
      await form.getByRole('button', { name: 'Save' }).click()
      await eventually(read, (runtime) => runtime === stored)
    }
    await form.scrollIntoViewIfNeeded()
    await saveScreenshot(tab, 'agent-container-light-desktop')
    await assertAccessible(tab, 'container settings')
    await tab.goto('/agents/qa-scout?tab=info')
    await page.getByRole('region', { name: 'Container' }).getByText('runc', { exact: true }).waitFor()
    await tab.context.close()
  })

  test('adds an evaluation; a score above 100 is shown at its field', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/agents/qa-scout?tab=settings')
    const section = page.getByRole('region', { name: 'Evaluations' })
    await section.getByLabel('Score').fill('101')
    await section.getByRole('button', { name: 'Add evaluation' }).click()
    await section.locator('input[aria-invalid=true]').waitFor()
    await section.getByLabel('Score').fill('87')
    await section.getByLabel('Verdict').fill('Careful')
    await section.getByRole('button', { name: 'Add evaluation' }).click()
    await section.getByRole('list', { name: 'Evaluations' }).getByText('Careful').waitFor()
    const [first] = (await bench.platform.request('GET', '/api/agents/qa-scout/evaluations')).json
    assert.deepEqual([first.score, first.verdict, first.notes], [87, 'Careful', null])
    await tab.context.close()
  })

  test('on a phone a button opens the menu, and a link closes it', async () => {
    const tab = await bench.open({ width: widths.phone })
    const { page } = tab
    await tab.goto('/')
    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    const places = page.getByRole('dialog', { name: 'Menu' }).getByRole('navigation', { name: 'Main' })
    await places.getByRole('link', { name: 'Library' }).waitFor()
    await saveScreenshot(tab, 'menu-light-phone')
    await assertAccessible(tab, 'the menu of a phone')
    await places.getByRole('link', { name: 'Library' }).click()
    await page.getByRole('heading', { name: 'Library', level: 1 }).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await tab.context.close()
  })

  test("a switch changes the agent's setting, also in another open browser", async () => {
    const [first, other] = [await bench.open(), await bench.open()]
    for (const tab of [first, other]) {
      await tab.goto('/agents/qa-scout?tab=settings')
      await tab.page.getByRole('switch', { name: 'Resume after an answer' }).waitFor()
    }
    await first.page.getByRole('switch', { name: 'Resume after an answer' }).click()
    await other.page.getByRole('switch', { name: 'Resume after an answer', checked: true }).waitFor()
    const stored = await bench.platform.request('GET', '/api/agents/qa-scout/operator-resume')
    assert.equal(stored.json.enabled, true)
    await first.context.close()
    await other.context.close()
  })

  test('tests, adds, assigns and deletes a subscription, and switches usage sharing', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/settings?tab=integrations')
    await page.getByRole('button', { name: 'Add subscription' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('team-plan')
    await dialog.getByRole('textbox', { name: 'Token' }).fill('sk-ant-oat01-team-plan')
    await dialog.getByRole('button', { name: 'Test token' }).click()
    await dialog.getByText('The provider accepts this token.').waitFor()
    await dialog.getByRole('button', { name: 'Add subscription' }).click()
    await dialog.waitFor({ state: 'detached' })
    const share = page.getByRole('switch', { name: 'Share usage statistics' })
    const ask = page.getByRole('button', { name: 'Keep off and do not ask again' })
    await ask.click()
    await ask.waitFor({ state: 'detached' })
    for (const enabled of [true, false]) {
      const saved = page.waitForResponse(
        (response) => response.url().endsWith('/telemetry-sharing') && response.request().method() === 'PUT',
      )
      await share.click()
      assert.equal((await (await saved).json()).enabled, enabled)
      // The response arrives before the page has rendered it.
      await page.getByRole('switch', { name: 'Share usage statistics', checked: enabled }).waitFor()
    }
    await tab.goto('/agents/qa-scout?tab=settings')
    await page.getByRole('combobox', { name: 'Subscription' }).click()
    await page.getByRole('option', { name: 'team-plan' }).click()
    await page
      .getByText('qa-scout uses subscription team-plan from the next model request.')
      .first()
      .waitFor()
    await tab.goto('/settings?tab=integrations')
    await page.getByText('used by qa-scout').waitFor()
    await page.getByRole('button', { name: 'Actions for team-plan' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByText('qa-scout switches to the platform’s key').first().waitFor()
    await page.getByRole('button', { name: 'Delete subscription' }).click()
    await page.getByText('team-plan', { exact: true }).waitFor({ state: 'detached' })
    const auth = await bench.platform.request('GET', '/api/subscriptions/agents/qa-scout/auth')
    assert.equal(auth.json.auth_mode, 'api_key')
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('new and stopped agents appear without a reload', async () => {
    const tab = await bench.open()
    await tab.goto('/agents')
    await tab.page.getByRole('link', { name: 'The Scout', exact: true }).waitFor()
    await createAgent(bench.platform, 'qa-appears')
    const tile = tab.page.getByRole('listitem').filter({ hasText: 'qa-appears' })
    await tile.getByText('running').waitFor()
    await bench.platform.request('POST', '/api/agents/qa-appears/stop')
    await tile.getByText('stopped').waitFor()
    await bench.platform.request('DELETE', '/api/agents/qa-appears')
    await tile.waitFor({ state: 'detached' })
    await tab.context.close()
  })

  test('an agent has one picture on every page: generated or set', async () => {
    const tab = await bench.open()
    const { page } = tab
    const look = (within: Locator) =>
      within
        .locator('[aria-hidden=true]')
        .filter({ hasText: /^QS$/ })
        .first()
        .evaluate((picture) => getComputedStyle(picture).backgroundColor)
    await tab.goto('/agents')
    const tile = page.getByRole('listitem').filter({ hasText: 'The Scout' })
    const onTile = await look(tile)
    await tab.goto('/agents/qa-scout')
    await page.getByRole('heading', { name: 'The Scout' }).waitFor()
    assert.equal(await look(page.locator('header').filter({ hasText: 'The Scout' })), onTile)
    const picture = Buffer.from(onePixel, 'base64')
    const set = await fetch(`${bench.platform.url}/api/agents/qa-scout/avatar`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${bench.platform.token}`,
        'content-type': 'application/octet-stream',
      },
      body: picture,
    })
    assert.equal(set.status, 200)
    await tab.goto('/agents/qa-scout')
    await page.locator('header img[src^="data:image/png"]').waitFor()
    await tab.goto('/agents')
    await tile.locator('img[src^="data:image/png"]').waitFor()
    await bench.platform.request('DELETE', '/api/agents/qa-scout/avatar')
    await closeTab(tab)
  })

  test('the mobile overview is in the menu of phones and in the palette', async () => {
    const tab = await bench.open({ width: widths.phone })
    const { page } = tab
    await tab.goto('/')
    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    await page.getByRole('dialog', { name: 'Menu' }).getByRole('link', { name: 'Mobile overview' }).click()
    await page.getByRole('heading', { name: 'Mobile overview' }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0)
    await tab.goto('/account')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('combobox').fill('mobile')
    await page.getByRole('option', { name: 'Mobile overview' }).click()
    await page.waitForURL((url) => url.pathname === '/m')
    await closeTab(tab)
  })

  test('a run has one cost on its page; the one of the runtime is only in the raw lines', async () => {
    const { json } = await bench.platform.request('GET', '/api/agents/qa-scout/executions')
    const run = json.find(({ status }: { status: string }) => status === 'success')
    const tab = await bench.open()
    const { page } = tab
    await tab.goto(`/agents/qa-scout/executions/${run.id}`)
    await page.getByRole('region', { name: 'Transcript' }).getByText('Done', { exact: true }).waitFor()
    // The trace has the cost of each model call.
    const outsideTrace = page.locator(':not([role=tree] *)')
    const costs = await page
      .getByText(/^≈?<?\$\d/)
      .and(outsideTrace)
      .allTextContents()
    assert.equal(costs.length, 1, costs.join())
    await page.getByRole('radio', { name: 'Raw lines' }).click()
    await page.getByText('total_cost_usd').first().waitFor()
    await closeTab(tab)
  })

  test('the button to the end of a conversation does not cover its text', async () => {
    const tab = await bench.open()
    const { page } = tab
    await chat(bench.platform, 'qa-scout', `[[tool:Bash:seq 1 400]] ${'long '.repeat(900)}`)
    await page.setViewportSize({ width: widths.desktop, height: 600 })
    await tab.goto('/agents/qa-scout?tab=chat')
    const messages = page.getByRole('region', { name: 'Messages' })
    await messages.getByText('398 399 400').waitFor()
    await messages.hover()
    await page.mouse.wheel(0, -400)
    const button = page.getByRole('button', { name: 'Scroll to the end' })
    await button.waitFor()
    const [text, shown] = [await messages.boundingBox(), await button.boundingBox()]
    assert.ok(text && shown && shown.y >= text.y + text.height, JSON.stringify({ text, shown }))
    await saveScreenshot(tab, 'chat-scrolled-light-desktop')
    await assertAccessible(tab, 'a scrolled conversation')
    await button.click()
    await button.waitFor({ state: 'detached' })
    await closeTab(tab)
  })

  test('reports a lost connection and recovers automatically', async () => {
    const tab = await bench.open()
    await tab.goto('/agents')
    await tab.page.getByRole('link', { name: 'The Scout', exact: true }).waitFor()
    await bench.platform.killApi()
    await tab.page.getByText('Live connection lost.', { exact: false }).waitFor()
    await bench.platform.startApi()
    // Sessions end with the process that signed them; the user signs in again in the dialog.
    await tab.page.getByRole('dialog', { name: 'Your session has expired' }).waitFor()
    await tab.context.close()
    bench.platform.token = await signIn(bench.platform)
  })

  test('a hidden tab sends no requests and refreshes when shown', async () => {
    const tab = await bench.open()
    await tab.goto('/agents')
    await tab.page.getByRole('link', { name: 'The Scout', exact: true }).waitFor()
    // The last request of the page: the waiting count, whose code is a separate chunk.
    await eventually(
      async () => tab.requests,
      (requests) =>
        ['/api/operator-queue/stats', '/api/notifications/count'].every((path) =>
          requests.includes(`GET ${path}`),
        ),
    )
    await setVisibility(tab.page, 'hidden')
    await tab.page.waitForLoadState('networkidle')
    const before = tab.requests.length
    await bench.platform.request('PUT', '/api/agents/qa-scout/label', { label: 'Renamed meanwhile' })
    // Longer than any interval of the pages. The page's clock is moved, so nothing waits.
    await tab.page.clock.fastForward(60_000)
    await createAgent(bench.platform, 'qa-unseen')
    assert.deepEqual(tab.requests.slice(before), [])
    await setVisibility(tab.page, 'visible')
    await tab.page.getByRole('link', { name: 'Renamed meanwhile', exact: true }).waitFor()
    await tab.context.close()
  })
})

describe('page size', () => {
  let bench: Bench
  before(async () => {
    bench = await openBench({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  test('the first page and the chat page stay below their requests and bytes of JavaScript', async () => {
    await createAgent(bench.platform, 'qa-weight')
    for (const { name, path, ready, most } of weighedPages('qa-weight')) {
      const { scripts, scriptBytes } = await pageWeight(bench, path, ready)
      assert.ok(scripts <= most.scripts, `${name}: ${scripts} requests`)
      const kilobytes = Math.round(scriptBytes / kilobyte)
      assert.ok(kilobytes <= most.scriptKilobytes, `${name}: ${kilobytes} KB`)
    }
    await bench.platform.request('DELETE', '/api/agents/qa-weight')
  })

  test('lists reach the browser compressed', async () => {
    const tab = await bench.open()
    const reply = tab.page.waitForResponse((response) => new URL(response.url()).pathname === '/openapi.json')
    await tab.goto('/docs')
    const { 'content-encoding': encoding, vary } = (await reply).headers()
    assert.match(encoding ?? '', /^(br|gzip)$/)
    assert.match(vary ?? '', /accept-encoding/i)
    await tab.context.close()
  })

  test('a table of 200 agents renders only visible rows', async () => {
    for (let index = 0; index < 200; index += 25) {
      await Promise.all(
        Array.from({ length: 25 }, (_, place) =>
          bench.platform.request('POST', '/api/agents', {
            name: `fleet-${String(index + place).padStart(3, '0')}`,
          }),
        ),
      )
    }
    const tab = await bench.open()
    await tab.goto('/agents?view=table')
    const grid = tab.page.getByRole('grid', { name: 'Agents' })
    await grid.getByText('fleet-000').waitFor()
    const rows = await eventually(
      () => grid.getByRole('row').count(),
      (count) => count > 5,
    )
    assert.ok(rows < 60, `${rows} rows are drawn`)
    await tab.page.getByRole('searchbox', { name: 'Filter agents' }).fill('fleet-199')
    await grid.getByText('fleet-199').waitFor()
    assert.match(tab.page.url(), /q=fleet-199/)
  })

  test('renders 200 tiles while scrolling and restores the scroll position', async () => {
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/agents')
    const tiles = page.getByRole('main').getByRole('listitem')
    await tiles.nth(9).waitFor()
    const first = await tiles.count()
    assert.ok(first < 100, `${first} tiles are drawn at first`)
    const last = page.getByRole('link', { name: 'fleet-000', exact: true })
    await eventually(
      async () => {
        await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight))
        return last.count()
      },
      (count) => count === 1,
    )
    await last.click()
    await page.getByRole('heading', { level: 1, name: 'fleet-000' }).waitFor()
    await page.goBack()
    await last.waitFor()
    assert.ok(await last.evaluate((link) => link.getBoundingClientRect().top < window.innerHeight))
    await tab.context.close()
  })

  test('a table drops columns that do not fit and keeps its column menu visible', async () => {
    for (const width of [1440, 1280, 1024, 360]) {
      const tab = await bench.open({ width })
      await tab.goto('/agents?view=table')
      const grid = tab.page.getByRole('grid', { name: 'Agents' })
      await grid.getByText('fleet-000').waitFor()
      const { content, room } = await grid.evaluate((table) => {
        const { scrollWidth = 0, clientWidth = 0 } = table.parentElement ?? {}
        return { content: scrollWidth, room: clientWidth }
      })
      assert.ok(content <= room, `${content} pixels of columns on ${room} at ${width}`)
      await tab.context.close()
    }
  })

  test('a truncated name has its full text as title while hovered', async () => {
    const label = 'Donaudampfschifffahrtsgesellschaftskapitänswitwenrentenauszahlungsstellenleiterin'
    await bench.platform.request('PUT', '/api/agents/fleet-001/label', { label })
    const tab = await bench.open()
    const { page } = tab
    await tab.goto('/agents?view=table')
    const name = page.getByRole('grid', { name: 'Agents' }).getByText(label)
    await name.hover()
    assert.equal(await name.getAttribute('title'), label)
    await page.getByRole('heading', { name: 'Agents', level: 1 }).hover()
    assert.equal(await name.getAttribute('title'), null)
    const whole = page.getByRole('grid', { name: 'Agents' }).getByText('fleet-002')
    await whole.hover()
    assert.equal(await whole.getAttribute('title'), null)
    await tab.context.close()
  })
})

/** Chromium never hides headless tabs itself. */
async function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((next) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => next })
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => next === 'hidden' })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }, state)
}
