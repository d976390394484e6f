import { useSyncExternalStore } from 'react'
import { type App, useApp } from '../../../shell/app-context.ts'
import { fileKeys, sendPart } from '../queries.ts'
import { createTransfers, isOpen, type Transfer, type Transfers } from './transfers.ts'

const stores = new WeakMap<App['queries'], Transfers>()

/** The transfers of this page. They continue while the user visits other pages of the application. */
export function useTransfers(): Transfers {
  const app = useApp()
  const known = stores.get(app.queries)
  if (known) return known
  const transfers = open(app)
  stores.set(app.queries, transfers)
  return transfers
}

/** All transfers, in the order in which they were added. */
export function useTransferList(): readonly Transfer[] {
  const transfers = useTransfers()
  return useSyncExternalStore(transfers.subscribe, transfers.current)
}

function open({ api, queries }: App): Transfers {
  const transfers = createTransfers({
    send: (part) => sendPart(api, part),
    pause: pauseUntilOnline,
    onStored({ agent, path }, isIdle) {
      void queries.invalidateQueries({ queryKey: fileKeys.file(agent, path) })
      // A folder of many small files must not load the listings again for each of them.
      const isListing = queries.isFetching({ queryKey: fileKeys.folders(agent) }) > 0
      if (isIdle || !isListing) void queries.invalidateQueries({ queryKey: fileKeys.folders(agent) })
    },
  })
  confirmClosing(transfers)
  return transfers
}

/** The browser asks before it closes the page during a transfer. */
function confirmClosing(transfers: Transfers): void {
  const refuse = (event: BeforeUnloadEvent) => event.preventDefault()
  let isAsking = false
  transfers.subscribe(() => {
    const isNeeded = transfers.current().some(isOpen)
    if (isNeeded === isAsking) return
    isAsking = isNeeded
    if (isNeeded) window.addEventListener('beforeunload', refuse)
    else window.removeEventListener('beforeunload', refuse)
  })
}

/** Ends early when the connection returns, and not before it does. */
function pauseUntilOnline(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => resolve()
  const timer = setTimeout(() => navigator.onLine && done(), ms)
  window.addEventListener('online', done)
  signal.addEventListener('abort', done, { once: true })
  return promise.finally(() => {
    clearTimeout(timer)
    window.removeEventListener('online', done)
  })
}
