/** A pool of browser contexts. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

export type Lease = {
  page: Page
  context: BrowserContext
  /** Closes its pages and returns the context to the pool. */
  release(): Promise<void>
}

/**
 * Lends a page in an exclusive context without stored data of `origin`. Only the file cache stays warm: a new
 * context costs seconds of CPU time per page.
 */
export function createContextPool(browser: Browser, origin: string) {
  const free = new Map<string, BrowserContext[]>()
  return async (options: BrowserContextOptions): Promise<Lease> => {
    const kind = JSON.stringify(options)
    const pool = free.get(kind) ?? []
    free.set(kind, pool)
    const pooled = pool.pop()
    const context = pooled ?? (await browser.newContext(options))
    const page = withSteadyNavigation(await context.newPage())
    if (pooled) await empty(context, page, origin)
    return {
      page,
      context,
      async release() {
        for (const each of context.pages()) await each.close()
        pool.push(context)
      },
    }
  }
}

/** Clears everything except the file cache. */
async function empty(context: BrowserContext, page: Page, origin: string): Promise<void> {
  const session = await context.newCDPSession(page)
  const storageTypes = 'cookies,local_storage,indexeddb,service_workers,cache_storage'
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes })
  await session.detach()
}

/** Chromium ends a navigation when the machine's networks change, as they do whenever an agent starts. */
function withSteadyNavigation(page: Page): Page {
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)]
  page.goto = (...args) => repeated(() => goto(...args))
  page.reload = (...args) => repeated(() => reload(...args))
  return page
}

/** The error page that Chromium shows then interrupts the next navigation, too. */
const lostNavigation = /ERR_NETWORK_CHANGED|interrupted by another navigation to "chrome-error:/

async function repeated<Result>(navigate: () => Promise<Result>, attempts = 5): Promise<Result> {
  try {
    return await navigate()
  } catch (error) {
    if (attempts === 1 || !lostNavigation.test(String(error))) throw error
    return repeated(navigate, attempts - 1)
  }
}
