/** Contexts of a browser that are lent again and again. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

export type Lent = {
  page: Page
  context: BrowserContext
  /** Closes its pages; the next one who borrows it finds it empty. */
  giveBack(): Promise<void>
}

/**
 * Lends a page in a context of its own: nobody else has a page in it, and nothing that a page of `origin` kept
 * is there. What stays is the cache of files, so that the pages come as to a person who was here before: a
 * context that is new costs seconds of the processor for each page.
 */
export function createLender(browser: Browser, origin: string) {
  const free = new Map<string, BrowserContext[]>()
  return async (options: BrowserContextOptions): Promise<Lent> => {
    const kind = JSON.stringify(options)
    const alike = free.get(kind) ?? []
    free.set(kind, alike)
    const known = alike.pop()
    const context = known ?? (await browser.newContext(options))
    const page = await context.newPage()
    if (known) await empty(context, page, origin)
    return {
      page,
      context,
      async giveBack() {
        for (const each of context.pages()) await each.close()
        alike.push(context)
      },
    }
  }
}

/** All but the cache of files. */
async function empty(context: BrowserContext, page: Page, origin: string): Promise<void> {
  const session = await context.newCDPSession(page)
  const storageTypes = 'cookies,local_storage,indexeddb,service_workers,cache_storage'
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes })
  await session.detach()
}
