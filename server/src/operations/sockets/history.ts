import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Rendered, render } from './envelope.ts'

/** Stored events, read and rendered once for all clients that reconnect at the same time. */
export type History = {
  /**
   * Returns some events after `position`, oldest first. Includes all stored ones up to `atLeast` on the same page. The
   * reader continues from the last one.
   */
  read(position: number, atLeast: number): Promise<readonly Rendered[]>
  /** Frees the memory when no client is reconnecting. */
  clear(): void
}

/** Page size and pages in memory: together slightly more than the events a client may have missed. */
const pageSize = 500
const maxPages = 12

type Page = { events: Rendered[]; last: number }

export function createHistory(outbox: Pick<Outbox, 'after'>): History {
  const pages = new Map<number, Page>()
  const loading = new Map<number, Promise<Page>>()

  async function load(start: number): Promise<Page> {
    const stored = await outbox.after(start, pageSize)
    const events = stored.filter(({ position }) => position <= start + pageSize).map(render)
    const page = { events, last: events.at(-1)?.event.position ?? start }
    pages.delete(start)
    pages.set(start, page)
    const [oldest] = pages.keys()
    if (pages.size > maxPages && oldest !== undefined) pages.delete(oldest)
    return page
  }

  function loadOnce(start: number): Promise<Page> {
    const running = loading.get(start)
    if (running) return running
    const promise = load(start).finally(() => loading.delete(start))
    loading.set(start, promise)
    return promise
  }

  return {
    async read(position, atLeast) {
      const start = Math.floor(position / pageSize) * pageSize
      const needed = Math.min(atLeast, start + pageSize)
      const isEnough = (page: Page | undefined) => page !== undefined && page.last >= needed
      let page = pages.get(start)
      // The first load may be one that another reader started earlier; the second is new enough.
      if (!isEnough(page)) page = await loadOnce(start)
      if (!isEnough(page)) page = await loadOnce(start)
      return (page?.events ?? []).filter(({ event }) => event.position > position)
    },
    clear: () => pages.clear(),
  }
}
