import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Rendered, render } from './envelope.ts'

/** Stored events, read and rendered once for all who come back at the same time. */
export type History = {
  /**
   * Events after `position`, oldest first: some of them, or none. Holds all up to `atLeast` that are kept and
   * lie on the same page; a reader asks again from the last one.
   */
  read(position: number, atLeast: number): Promise<readonly Rendered[]>
  /** Forgets what was read, when nobody comes back any more. */
  clear(): void
}

/** Events on a page, and pages in memory: a little more than a client may have missed. */
const pageSize = 500
const pagesKept = 12

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
    if (pages.size > pagesKept && oldest !== undefined) pages.delete(oldest)
    return page
  }

  function loadOnce(start: number): Promise<Page> {
    const running = loading.get(start)
    if (running) return running
    const started = load(start).finally(() => loading.delete(start))
    loading.set(start, started)
    return started
  }

  return {
    async read(position, atLeast) {
      const start = Math.floor(position / pageSize) * pageSize
      const wanted = Math.min(atLeast, start + pageSize)
      const isEnough = (page: Page | undefined) => page !== undefined && page.last >= wanted
      let page = pages.get(start)
      // What another reader began to load may be too old; what is loaded after it is not.
      if (!isEnough(page)) page = await loadOnce(start)
      if (!isEnough(page)) page = await loadOnce(start)
      return (page?.events ?? []).filter(({ event }) => event.position > position)
    },
    clear: () => pages.clear(),
  }
}
