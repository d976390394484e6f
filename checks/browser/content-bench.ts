/** A browser in front of the page that shows what others wrote. */
import assert from 'node:assert/strict'
import { chromium, type Page } from 'playwright-core'
import {
  assertAccessible,
  assertNoSideways,
  keepPicture,
  lookAt,
  type Theme,
  themes,
  widths,
} from './bench.ts'
import { createLender } from './contexts.ts'
import { openGallery } from './gallery.ts'

// The page puts it there, see `web/src/test/content.tsx`.
declare const window: { show(content: object): void }

export type ContentTab = { page: Page; faults: string[]; requests: string[] } & AsyncDisposable
export type ContentBench = Awaited<ReturnType<typeof openContentBench>>

export async function openContentBench() {
  const gallery = await openGallery('content')
  const browser = await chromium.launch({
    executablePath: process.env.ROOST_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  })
  const lend = createLender(browser, gallery.url)

  type Options = { theme?: Theme; width?: number; hash?: string }
  async function open({ theme = 'light', width = widths.desktop, hash = '' }: Options = {}) {
    const { page, giveBack } = await lend({ locale: 'en-GB', reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 860 })
    page.setDefaultTimeout(120_000)
    const faults: string[] = []
    const requests: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(`${gallery.url}?theme=${theme}${hash}`)
    await page.waitForSelector('h1')
    const tab: ContentTab = { page, faults, requests, [Symbol.asyncDispose]: giveBack }
    return tab
  }

  /** Shows content in both themes and both widths as `reviewPage` does, and keeps the pictures. */
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
        await keepPicture(tab, `content-${what}`)
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

/** Shows content and says how long it took until it was painted, in ms. */
function show(page: Page, content: object): Promise<number> {
  return page.evaluate(async (shown) => {
    const startedAt = performance.now()
    window.show(shown)
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    return performance.now() - startedAt
  }, content)
}

/** Of three, so that a busy machine does not fail what is fast. */
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
