/** A browser with the page that shows untrusted content. */
import assert from 'node:assert/strict'
import { chromium, type Page } from 'playwright-core'
import {
  assertAccessible,
  assertNoSideways,
  lookAt,
  saveScreenshot,
  type Theme,
  themes,
  widths,
} from './bench.ts'
import { createContextPool } from './contexts.ts'
import { openGallery } from './gallery.ts'

// Set by the page, see `web/src/test/content.tsx`.
declare const window: { show(content: object): void }

export type ContentTab = { page: Page; faults: string[]; requests: string[] } & AsyncDisposable
export type ContentBench = Awaited<ReturnType<typeof openContentBench>>

export async function openContentBench() {
  const gallery = await openGallery('content')
  const browser = await chromium.launch({
    executablePath: process.env.ROOST_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  })
  const lend = createContextPool(browser, gallery.url)

  type Options = { theme?: Theme; width?: number; hash?: string }
  async function open({ theme = 'light', width = widths.desktop, hash = '' }: Options = {}) {
    const { page, release } = await lend({ locale: 'en-GB', reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 860 })
    page.setDefaultTimeout(120_000)
    const faults: string[] = []
    const requests: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      // Chromium drops requests when the machine's networks change, because agents of other tests start.
      if (message.type() === 'error' && !message.text().includes('ERR_NETWORK_CHANGED'))
        faults.push(message.text())
    })
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(`${gallery.url}?theme=${theme}${hash}`)
    await page.waitForSelector('h1')
    const tab: ContentTab = { page, faults, requests, [Symbol.asyncDispose]: release }
    return tab
  }

  /** Shows content in both themes and both widths like `reviewPage`, and saves screenshots. */
  async function review(name: string, content: object, ready: (page: Page) => Promise<unknown>) {
    for (const theme of themes) {
      await using tab = await open({ theme })
      await show(tab.page, content)
      await ready(tab.page)
      for (const [screen, width] of Object.entries(widths)) {
        const what = `${name}-${theme}-${screen}`
        const look = lookAt(theme, width)
        if (!look) continue
        await tab.page.setViewportSize({ width, height: 860 })
        await assertNoSideways(tab, what)
        await saveScreenshot(tab, `content-${what}`)
        await assertAccessible(tab, what, look)
        assert.deepEqual(tab.faults, [], what)
      }
    }
  }

  return {
    url: gallery.url,
    open,
    review,
    show,
    fastest,
    scrollsSideways,
    async [Symbol.asyncDispose]() {
      await browser.close()
      await gallery[Symbol.asyncDispose]()
    },
  }
}

/** Shows content and returns the time in ms until it was painted. */
function show(page: Page, content: object): Promise<number> {
  return page.evaluate(async (shown) => {
    const startedAt = performance.now()
    window.show(shown)
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    return performance.now() - startedAt
  }, content)
}

/** The best of three, so that a busy machine does not fail the test. */
async function fastest(page: Page, content: object): Promise<number> {
  const times: number[] = []
  for (let time = 0; time < 3; time += 1) {
    await show(page, { kind: 'markdown', text: '' })
    times.push(await show(page, content))
  }
  return Math.min(...times)
}

function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)
}
