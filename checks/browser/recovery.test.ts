/** Pages recover automatically after network failures. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { adminPassword, eventually, signIn } from '../acceptance/platform.ts'
import { createAgent } from '../acceptance/steps.ts'
import { type Bench, openBench, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-recovery'
const runs = `/agents/${name}?tab=executions`
let bench: Bench
before(async () => {
  bench = await openBench({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
  await createAgent(bench.platform, name)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const messageField = (page: Page) => page.getByRole('textbox', { name: 'Message' })

const part = (page: Page, label: string) =>
  page.getByRole('navigation', { name: `Sections of ${name}` }).getByRole('link', { name: label })

async function open(): Promise<Tab> {
  const tab = await bench.open()
  return tab
}

/** Fails matching requests like a network change, for the first `times` or until `heal`. */
async function breakNetwork({ page }: Tab, pattern: RegExp, times = Number.POSITIVE_INFINITY) {
  let broken = 0
  const handler = (route: Route) => {
    if (broken >= times) return route.continue()
    broken += 1
    return route.abort('internetdisconnected')
  }
  await page.route(pattern, handler)
  return { broken: () => broken, heal: () => page.unroute(pattern, handler) }
}

// Slow, because pages wait before they retry.
describe('a broken network', { concurrency: 3 }, () => {
  test('while loading the first files leaves no empty page', async () => {
    const tab = await open()
    const files = await breakNetwork(tab, /\/assets\/index-[^/]+\.(js|css)$/, 3)
    await tab.goto(runs)
    await messageField(tab.page).waitFor()
    assert.ok(files.broken() >= 2)
    await tab.context.close()
  })

  test('while loading parts of a page leaves nothing missing', async () => {
    const tab = await open()
    await tab.goto('/agents')
    const agent = tab.page.getByRole('link', { name, exact: true })
    await agent.waitFor()
    const files = await breakNetwork(tab, /\/assets\/(agent|executions-tab|overview-tab)-/, 6)
    await agent.click()
    await part(tab.page, 'Runs').click()
    await messageField(tab.page).waitFor()
    assert.equal(files.broken(), 6)
    assert.equal(tab.requests.filter((request) => request === 'GET /agents').length, 1, 'the page stays')
    await tab.context.close()
  })

  test('beyond the retries of a part shows an error, and the part loads later', async () => {
    const tab = await open()
    await tab.goto('/agents')
    const files = await breakNetwork(tab, /\/assets\/executions-tab-|\/health$/)
    await tab.page.evaluate((path) => window.history.pushState({}, '', path), runs)
    await tab.page.getByText('Could not load this content').waitFor()
    await tab.page.getByRole('heading', { name, level: 1 }).waitFor()
    await files.heal()
    await messageField(tab.page).waitFor()
    await tab.context.close()
  })

  test('for API requests shows an error, and the data loads later', async () => {
    const tab = await open()
    const calls = await breakNetwork(tab, /\/api\/agents\/|\/health$/)
    await tab.goto(runs)
    await tab.page.getByText('Could not load the agent').waitFor()
    await tab.page.getByText('network_error').waitFor()
    await calls.heal()
    await messageField(tab.page).waitFor()
    await tab.context.close()
  })

  test('before the user is known recovers as well', async () => {
    const tab = await open()
    const calls = await breakNetwork(tab, /\/api\/users\/me$|\/health$/)
    await tab.goto(runs)
    await tab.page.getByText('network_error').waitFor()
    await calls.heal()
    await messageField(tab.page).waitFor()
    await tab.context.close()
  })

  test('reported only by the browser stops nothing', async () => {
    const tab = await open()
    await tab.goto('/agents')
    await tab.page.getByRole('link', { name, exact: true }).waitFor()
    await tab.page.evaluate(() => window.dispatchEvent(new Event('offline')))
    await tab.page.getByRole('link', { name, exact: true }).click()
    await part(tab.page, 'Runs').click()
    await messageField(tab.page).waitFor()
    await tab.context.close()
  })
})

describe('an expired session', () => {
  test('stops all requests of the page until the user signs in again', async () => {
    const token = await signIn(bench.platform)
    const tab = await bench.open({ token })
    const { page } = tab
    await page.clock.install()
    await tab.goto('/agents')
    const figures = 'GET /api/telemetry/host'
    const requestCount = () => tab.requests.filter((request) => request === figures).length
    /** Longer than any interval of the page, so that all pending requests have been sent. */
    const later = async () => {
      await page.clock.fastForward(120_000)
      await page.evaluate(async () => void (await fetch('/health')))
    }
    await eventually(
      async () => requestCount(),
      (times) => times > 0,
    )
    await page.waitForLoadState('networkidle')
    const before = requestCount()
    await later()
    await eventually(
      async () => requestCount(),
      (times) => times > before,
    )

    await bench.platform.request('POST', '/api/auth/logout', undefined, { token })
    const ended = page.getByRole('dialog', { name: 'Your session has expired' })
    await ended.getByLabel('User name').waitFor()
    const from = tab.requests.length
    await later()
    await later()
    assert.deepEqual(
      tab.requests.slice(from).filter((request) => request.includes(' /api/')),
      [],
    )

    const back = page.waitForResponse((reply) => /\/telemetry\/host$/.test(reply.url()) && reply.ok())
    await ended.getByLabel('User name').fill('admin')
    await ended.getByLabel('Password', { exact: true }).fill(adminPassword)
    await ended.getByRole('button', { name: 'Sign in', exact: true }).click()
    await back
    await ended.waitFor({ state: 'hidden' })
    await tab.context.close()
  })
})

describe('an updated platform', () => {
  test('reloads the page once', async () => {
    const tab = await open()
    const { page } = tab
    await tab.goto('/agents')
    await page.getByRole('link', { name, exact: true }).waitFor()
    // The files of the build that the page started with no longer exist.
    await page.route(/\/assets\/executions-tab-/, (route) => route.fulfill({ status: 404, body: '' }))
    let loads = 0
    page.on('domcontentloaded', () => {
      loads += 1
    })
    await page.evaluate((path) => window.history.pushState({}, '', path), runs)
    await page.waitForEvent('domcontentloaded')
    await page.getByText('Could not load this content').waitFor()
    // Longer than the retry delay.
    await page.waitForResponse(/\/health$/)
    await page.waitForResponse(/\/health$/)
    assert.equal(loads, 1)
    await page.unroute(/\/assets\/executions-tab-/)
    await messageField(page).waitFor()
    await tab.context.close()
  })
})
