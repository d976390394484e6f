/** A browser in front of a real platform, and what every page is looked at for. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { RunOptions } from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { adminPassword, type Platform, startPlatform } from '../acceptance/platform.ts'
import { createLender } from './contexts.ts'

export const pictures = resolve(import.meta.dirname, '../../artifacts/screenshots')
const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export type Theme = 'light' | 'dark'
export const themes: readonly Theme[] = ['light', 'dark']
/** A turn starts a program in a container, and the machine may be busy with others. */
const patienceMs = 120_000
/** CSS pixels. */
export const widths = { desktop: 1280, phone: 360 } as const
const heightFor = (width: number) => (width < 600 ? 740 : 860)

export type Bench = {
  platform: Platform
  browser: Browser
  /** Those that are open. */
  tabs: ReadonlySet<Tab>
  /**
   * A tab of a browser of its own, which keeps nothing of another one but the files that a browser may keep.
   * What it must not do is noted in `faults`.
   */
  open(options?: { theme?: Theme; width?: number; token?: string | null; hasTouch?: boolean }): Promise<Tab>
  [Symbol.asyncDispose](): Promise<void>
}

export type Tab = {
  page: Page
  context: Pick<BrowserContext, 'newCDPSession'> & { close(): Promise<void> }
  /** Violations of the Content-Security-Policy, uncaught errors and console errors so far. */
  faults: string[]
  /** Every request to the platform, as `GET /path`. */
  requests: string[]
  /** Requests that broke, or were answered with an error status: the method, the address and why. */
  failures: string[]
  goto(path: string): Promise<void>
}

/** A platform whose admin is set up (unless `password: false`), and a browser. */
export async function openBench({
  browserArgs = [],
  ...options
}: Parameters<typeof startPlatform>[0] & { browserArgs?: string[] } = {}): Promise<Bench> {
  // The names of its agents are those of a screen; containers have one name space for all platforms of an engine.
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
  const lend = createLender(browser, platform.url)
  return {
    platform,
    browser,
    tabs,
    async open({ theme = 'light', width = widths.desktop, token = platform.token, ...device } = {}) {
      const { page, context, giveBack } = await lend({
        reducedMotion: 'reduce',
        locale: 'en-GB',
        timezoneId: 'Europe/Berlin',
        ...device,
      })
      await page.setViewportSize({ width, height: heightFor(width) })
      await page.emulateMedia({ colorScheme: theme })
      if (token) await page.addInitScript((value) => localStorage.setItem('roost.token', value), token)
      // How fast a page is, is measured in bench/; here a busy machine is no fault.
      page.setDefaultTimeout(patienceMs)
      // The two minutes that people may choose: a busy machine, too, needs its time until it comes to Undo.
      await page.addInitScript(() => localStorage.setItem('roost.messages', 'longest'))
      const tab: Tab = {
        page,
        context: {
          newCDPSession: (of) => context.newCDPSession(of),
          async close() {
            // Twice by a test that failed: by itself, and by what tells its failure.
            if (tabs.delete(tab)) await giveBack()
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
    // The browser's own note of an answer with an error status; the page says what it means.
    if (message.text().startsWith('Failed to load resource')) return
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

export async function signIn({ page }: Pick<Tab, 'page'>): Promise<void> {
  await page.getByLabel('User name').fill('admin')
  await page.getByLabel('Password', { exact: true }).fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Compressed bytes of script that the first page of a signed-in person fetches. */
export async function firstPageScriptBytes(bench: Bench): Promise<number> {
  const tab = await bench.open()
  const session = await tab.context.newCDPSession(tab.page)
  await session.send('Network.enable')
  const scripts = new Set<string>()
  let bytes = 0
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength
  })
  await tab.goto('/')
  await tab.page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
  await tab.page.waitForLoadState('networkidle')
  await tab.context.close()
  assert.ok(bytes > 0, 'no script was seen')
  return bytes
}

/** What a theme changes, and what it does not; colours take most of the time of a look. */
type Look = 'all' | 'colours' | 'all but colours'
const colourRules = ['color-contrast', 'link-in-text-block']

/** Asserts that axe-core has nothing to say about the page as it is now. */
export async function assertAccessible(
  { page }: Pick<Tab, 'page'>,
  what: string,
  look: Look = 'all',
): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource)
  const options: RunOptions = {
    runOnly: look === 'colours' ? { type: 'rule', values: colourRules } : levels,
    // Of what passes nothing is read, and describing it takes most of the time of a large page.
    resultTypes: ['violations'],
  }
  if (look === 'all but colours')
    options.rules = Object.fromEntries(colourRules.map((rule) => [rule, { enabled: false }]))
  const violations = await page.evaluate(async (how) => {
    // Put there by the line above.
    const { axe } = window as unknown as { axe: typeof import('axe-core') }
    // A switch that is half under the header of a scrolled page is no target that is too small.
    const { scrollY } = window
    window.scrollTo(0, 0)
    const result = await axe.run(document, how)
    window.scrollTo(0, scrollY)
    return result.violations.map(({ id, help, nodes }) => ({
      id,
      help,
      where: nodes.slice(0, 5).map((node) => `${node.target.join(' ')}: ${node.html.slice(0, 160)}`),
    }))
  }, options)
  assert.deepEqual(violations, [], `${what}: ${JSON.stringify(violations, null, 2)}`)
}

/** Keeps a picture of the page for a reviewer, in `artifacts/screenshots/`. */
export async function keepPicture({ page }: Pick<Tab, 'page'>, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}

export type Review = {
  name: string
  path: string
  /** Resolves when the page shows what it is about. */
  ready(page: Page): Promise<unknown>
  /** Null: nobody is signed in. The platform's own unless said otherwise. */
  token?: string | null
}

/**
 * Shows one page in both themes and both widths, asks axe-core about each theme and each width, and keeps the
 * pictures: of the phone in light alone.
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
      await keepPicture(tab, what)
      await assertAccessible(tab, what, look)
      await assertNoSideways(tab, what)
    }
    assert.deepEqual(tab.faults.slice(before), [], `${name}, ${screen}`)
  }
}

/** Colours are of the theme and sizes of the width: the fourth of the four has nothing of its own. */
const looks: Record<`${Theme} ${keyof typeof widths}`, Look | null> = {
  'light desktop': 'all',
  'dark desktop': 'colours',
  'light phone': 'all but colours',
  'dark phone': null,
}

/** What to look at on a page that is looked at in both themes and widths; null: it has been seen. */
export function lookAt(theme: Theme, width: number): Look | null {
  return looks[`${theme} ${width === widths.phone ? 'phone' : 'desktop'}`]
}

const reviewers = new WeakMap<Bench, Map<string | null | undefined, Tab>>()

/** The tab that pages are reviewed in: one for each person, whose cache is warm from the second page on. */
async function reviewer(bench: Bench, token: string | null | undefined): Promise<Tab> {
  const known = reviewers.get(bench) ?? new Map<string | null | undefined, Tab>()
  reviewers.set(bench, known)
  const open = known.get(token)
  // A test that failed closes all that are open.
  if (open && bench.tabs.has(open)) return open
  const tab = await bench.open(token === undefined ? {} : { token })
  // What a page asks before it is left with unsaved words.
  tab.page.on('dialog', (dialog) => void dialog.accept())
  known.set(token, tab)
  return tab
}

/** The page itself never scrolls sideways; what is wide scrolls inside. */
export async function assertNoSideways({ page }: Pick<Tab, 'page'>, what: string): Promise<void> {
  const { content, window: wide } = await page.evaluate(async () => {
    // What measures its room is told of a new width in the next frame, and draws in the one after.
    for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame)
    const { scrollWidth, clientWidth } = document.documentElement
    return { content: scrollWidth, window: clientWidth }
  })
  assert.ok(content <= wide, `${what}: ${content} CSS pixels of content on ${wide}`)
}
