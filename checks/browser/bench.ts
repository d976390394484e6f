/** A browser with a real platform, and the checks that every page must pass. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { RunOptions } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { adminPassword, type Platform, startPlatform } from '../acceptance/platform.ts'
import { createContextPool } from './contexts.ts'

export const pictures = resolve(import.meta.dirname, '../../artifacts/screenshots')
const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export type Theme = 'light' | 'dark'
export const themes: readonly Theme[] = ['light', 'dark']
/** A turn starts a program in a container, and the machine may be busy. */
const patienceMs = 120_000
/** CSS pixels. */
export const widths = { desktop: 1280, phone: 360 } as const
const heightFor = (width: number) => (width < 600 ? 740 : 860)

export type Bench = {
  platform: Platform
  browser: Browser
  /** The open tabs. */
  tabs: ReadonlySet<Tab>
  /**
   * A tab in a browser context of its own, which shares only the file cache with other tabs. Records unwanted
   * events in `faults`.
   */
  open(options?: { theme?: Theme; width?: number; token?: string | null; hasTouch?: boolean }): Promise<Tab>
  [Symbol.asyncDispose](): Promise<void>
}

export type Tab = {
  page: Page
  context: Pick<BrowserContext, 'newCDPSession'> & { close(): Promise<void> }
  /** Violations of the Content-Security-Policy, uncaught errors and console errors. */
  faults: string[]
  /** Every request to the platform, as `GET /path`. */
  requests: string[]
  /** Failed requests: method, address, and error status or reason. */
  failures: string[]
  goto(path: string): Promise<void>
}

/** A platform with its admin set up (unless `password: false`), and a browser. */
export async function openBench({
  browserArgs = [],
  ...options
}: Parameters<typeof startPlatform>[0] & { browserArgs?: string[] } = {}): Promise<Bench> {
  // Agent names are fixed for the screenshots; one container name prefix per platform avoids clashes.
  const env = { ROOST_CONTAINER_PREFIX: `${randomBytes(4).toString('hex')}-`, ...options.env }
  const platform = await startPlatform({ ...options, env })
  const browser = await chromium.launch({
    executablePath: process.env.ROOST_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--no-first-run',
      ...browserArgs,
    ],
  })
  const tabs = new Set<Tab>()
  const lend = createContextPool(browser, platform.url)
  return {
    platform,
    browser,
    tabs,
    async open({ theme = 'light', width = widths.desktop, token = platform.token, ...device } = {}) {
      const { page, context, release } = await lend({
        reducedMotion: 'reduce',
        locale: 'en-GB',
        timezoneId: 'Europe/Berlin',
        ...device,
      })
      await page.setViewportSize({ width, height: heightFor(width) })
      await page.emulateMedia({ colorScheme: theme })
      if (token) await presetStorage(page, 'roost.token', token)
      // bench/ measures the speed of pages; here a busy machine is not an error.
      page.setDefaultTimeout(patienceMs)
      // The longest message duration: a busy machine may be slow to reach Undo.
      await presetStorage(page, 'roost.messages', 'longest')
      const tab: Tab = {
        page,
        context: {
          newCDPSession: (of) => context.newCDPSession(of),
          async close() {
            // A failed test disposes twice: itself, and in `reportFailure`.
            if (tabs.delete(tab)) await release()
          },
        },
        faults: [],
        requests: [],
        failures: [],
        goto: async (path) => void (await page.goto(platform.url + path)),
      }
      watch(tab, platform.url)
      tabs.add(tab)
      return tab
    },
    async [Symbol.asyncDispose]() {
      await browser.close()
      await platform[Symbol.asyncDispose]()
    },
  }
}

function watch({ page, faults, requests, failures }: Tab, origin: string): void {
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    // Chromium logs every error status to the console; the page handles it.
    if (message.text().startsWith('Failed to load resource')) return
    // The page works without its service worker; its own tests show that it starts.
    if (message.text() === 'An unknown error occurred when fetching the script.') return
    faults.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin === origin) requests.push(`${request.method()} ${url.pathname}`)
    else if (url.protocol.startsWith('http')) faults.push(`foreign request: ${request.url()}`)
  })
  page.on('requestfailed', (request) => {
    failures.push(`${request.method()} ${request.url()} ${request.failure()?.errorText}`)
  })
  page.on('response', (response) => {
    if (response.status() < 400) return
    failures.push(`${response.request().method()} ${response.url()} ${response.status()}`)
  })
}

/** Sets an item before any script of a page runs. Documents without an origin, such as the first empty one, have none. */
export async function presetStorage(page: Page, key: string, value: string): Promise<void> {
  await page.addInitScript(
    (item) => {
      if (origin !== 'null') localStorage.setItem(item.key, item.value)
    },
    { key, value },
  )
}

export async function signIn({ page }: Pick<Tab, 'page'>): Promise<void> {
  await page.getByLabel('User name').fill('admin')
  await page.getByLabel('Password', { exact: true }).fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** What a page loads until it is idle, with an empty cache: responses, and their bytes as they were sent. */
export type PageWeight = { requests: number; bytes: number; scripts: number; scriptBytes: number }

/** The pages whose size is limited. A new feature of a page belongs into a part that loads later. */
export function weighedPages(agent: string) {
  return [
    {
      name: 'first page',
      path: '/',
      ready: (page: Page) => page.getByRole('heading', { name: 'Home', level: 1 }).waitFor(),
      most: { scripts: 12, scriptKilobytes: 190 },
    },
    {
      name: 'chat page',
      path: `/agents/${agent}?tab=chat`,
      ready: (page: Page) => page.getByRole('textbox').first().waitFor(),
      most: { scripts: 40, scriptKilobytes: 350 },
    },
  ]
}

/** Measures a page of a signed-in user. `ready` resolves when the page has loaded its content. */
export async function pageWeight(
  bench: Bench,
  path: string,
  ready: (page: Page) => Promise<unknown>,
): Promise<PageWeight> {
  const tab = await bench.open()
  const session = await tab.context.newCDPSession(tab.page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  const scripts = new Set<string>()
  const weight = { requests: 0, bytes: 0, scripts: 0, scriptBytes: 0 }
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    weight.requests += 1
    weight.bytes += encodedDataLength
    if (!scripts.has(requestId)) return
    weight.scripts += 1
    weight.scriptBytes += encodedDataLength
  })
  await tab.goto(path)
  await ready(tab.page)
  await tab.page.waitForLoadState('networkidle')
  await tab.context.close()
  assert.ok(weight.scriptBytes > 0, 'no script was seen')
  return weight
}

/** The rules that depend on the theme, and the others. Colour contrast takes most of the time. */
type Look = 'all' | 'colours' | 'all but colours'
const colourRules = ['color-contrast', 'link-in-text-block']

/** Asserts that axe-core reports no violation for the current page. */
export async function assertAccessible(
  { page }: Pick<Tab, 'page'>,
  what: string,
  look: Look = 'all',
): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource)
  const options: RunOptions = {
    runOnly: look === 'colours' ? { type: 'rule', values: colourRules } : levels,
    // Details of passed rules are unused and slow to collect on large pages.
    resultTypes: ['violations'],
  }
  if (look === 'all but colours')
    options.rules = Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }]))
  const violations = await page.evaluate(async (how) => {
    // Added by the line above.
    const { axe } = window as unknown as { axe: typeof import('axe-core') }
    // A switch half under the sticky header of a scrolled page is not too small a target.
    const { scrollY } = window
    window.scrollTo(0, 0)
    // Nor is one that the bottom bar covers until the page is scrolled.
    const bar = document.querySelector<HTMLElement>('.bottom-bar')
    bar?.style.setProperty('position', 'static')
    const result = await axe.run(document, how)
    bar?.style.removeProperty('position')
    window.scrollTo(0, scrollY)
    return result.violations.map(({ id, help, nodes }) => ({
      id,
      help,
      where: nodes.slice(0, 5).map((node) => `${node.target.join(' ')}: ${node.html.slice(0, 160)}`),
    }))
  }, options)
  assert.deepEqual(violations, [], `${what}: ${JSON.stringify(violations, null, 2)}`)
}

/** Asserts that the page reported no fault, and closes the tab. */
export async function closeTab({ faults, context }: Tab): Promise<void> {
  assert.deepEqual(faults, [])
  await context.close()
}

/** Saves a screenshot in `artifacts/screenshots/`. */
export async function saveScreenshot({ page }: Pick<Tab, 'page'>, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

export type Review = {
  name: string
  path: string
  /** Resolves when the page has loaded its content. */
  ready(page: Page): Promise<unknown>
  /** Null: not signed in. Default: the admin. */
  token?: string | null
}

/**
 * Opens one page in both themes and both widths, runs axe-core for each theme and width, and saves
 * screenshots; on phones only in the light theme.
 */
export async function reviewPage(bench: Bench, { name, path, ready, token }: Review): Promise<void> {
  const tab = await reviewer(bench, token)
  const before = tab.faults.length
  for (const [screen, width] of Object.entries(widths)) {
    await tab.page.setViewportSize({ width, height: heightFor(width) })
    await tab.goto(path)
    await ready(tab.page)
    for (const theme of themes) {
      const what = `${name}-${theme}-${screen}`
      const look = lookAt(theme, width)
      if (!look) continue
      await tab.page.emulateMedia({ colorScheme: theme })
      await tab.page.locator(`html[data-theme=${theme}]`).waitFor()
      await saveScreenshot(tab, what)
      await assertAccessible(tab, what, look)
      await assertNoSideways(tab, what)
      await assertWholeHeadings(tab, what)
    }
    assert.deepEqual(tab.faults.slice(before), [], `${name}, ${screen}`)
  }
}

/** Colours depend on the theme and sizes on the width, so the fourth combination needs no rules. */
const looks: Record<`${Theme} ${keyof typeof widths}`, Look | null> = {
  'light desktop': 'all',
  'dark desktop': 'colours',
  'light phone': 'all but colours',
  'dark phone': null,
}

/** The axe rules for each combination of theme and width; null: already covered. */
export function lookAt(theme: Theme, width: number): Look | null {
  return looks[`${theme} ${width === widths.phone ? 'phone' : 'desktop'}`]
}

const reviewers = new WeakMap<Bench, Map<string | null | undefined, Tab>>()

/** The tab for reviews: one per user, so that the cache is warm from the second page on. */
async function reviewer(bench: Bench, token: string | null | undefined): Promise<Tab> {
  const tabs = reviewers.get(bench) ?? new Map<string | null | undefined, Tab>()
  reviewers.set(bench, tabs)
  const open = tabs.get(token)
  // A failed test closes all open tabs.
  if (open && bench.tabs.has(open)) return open
  const tab = await bench.open(token === undefined ? {} : { token })
  // Accepts the prompt before leaving unsaved changes.
  tab.page.on('dialog', (dialog) => void dialog.accept())
  tabs.set(token, tab)
  return tab
}

/** Asserts that no column heading is cut with an ellipsis. */
async function assertWholeHeadings({ page }: Pick<Tab, 'page'>, what: string): Promise<void> {
  const cut = await page
    .locator('th .truncate')
    .evaluateAll((headings) =>
      headings.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent),
    )
  assert.deepEqual(cut, [], `${what}: cut column headings`)
}

/** Asserts that the page itself never scrolls sideways; wide content scrolls inside. */
export async function assertNoSideways({ page }: Pick<Tab, 'page'>, what: string): Promise<void> {
  const { content, window: wide } = await page.evaluate(async () => {
    // Components that measure their width update in the next frame and render in the one after.
    for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame)
    const { scrollWidth, clientWidth } = document.documentElement
    return { content: scrollWidth, window: clientWidth }
  })
  assert.ok(content <= wide, `${what}: ${content} CSS pixels of content on ${wide}`)
}
