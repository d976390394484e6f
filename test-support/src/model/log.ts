import { closeSync, openSync, writeSync } from 'node:fs'
import type { ProviderName } from './provider.ts'

export type KeyKind = 'x-api-key' | 'x-goog-api-key' | 'bearer' | 'query'

/** A logged request; the names are those of the JSON lines. */
export type LoggedRequest = {
  time: string
  /** Null when the path belongs to no provider. */
  provider: ProviderName | null
  method: string
  /** With its query, but without a key. */
  path: string
  model: string | null
  /** Kind of the key, or null; with several keys the first in the order of `KeyKind`. */
  key_kind: KeyKind | null
  key: string | null
  /** All keys, so that tests can check that no other was sent. */
  keys: Partial<Record<KeyKind, string>>
  /** As decided, before any `sleep`; a cut answer has 200. */
  status: number
  /** `main`: a turn; `side`: a request of the CLI itself; `probe`: anything else. */
  kind: 'main' | 'side' | 'probe'
  /** Names of the applied directives, in order. */
  directives: string[]
  /** The first 500 characters of the current turn's user text. */
  user_text: string | null
}

/** A request as seen by tests in the same process; `ended` changes when its answer ends. */
export type SeenRequest = LoggedRequest & { ended: 'open' | 'answered' | 'cut' | 'client_gone' }

export type RequestLog = {
  requests: readonly SeenRequest[]
  add: (request: LoggedRequest) => SeenRequest
  end: (request: SeenRequest, how: SeenRequest['ended']) => void
  waitFor: (predicate: (request: SeenRequest) => boolean, timeoutMs: number) => Promise<SeenRequest>
  /** Closes the file and rejects pending waits. */
  close: () => void
}

/**
 * Stores the requests and writes each as a JSON line once its answer is decided. Synchronous, so the line is
 * in the file before a client gets the first byte. Throws when the file cannot be opened.
 */
export function createRequestLog(file: string | null): RequestLog {
  const requests: SeenRequest[] = []
  const waiters = new Set<Waiter>()
  let descriptor = file === null ? null : openSync(file, 'a')

  function notifyWaiters(request: SeenRequest): void {
    for (const one of waiters) if (one.predicate(request)) one.settle(request)
  }

  return {
    requests,
    add(logged) {
      const request: SeenRequest = { ...logged, ended: 'open' }
      requests.push(request)
      if (descriptor !== null) writeSync(descriptor, `${JSON.stringify(logged)}\n`)
      notifyWaiters(request)
      return request
    },
    end(request, how) {
      request.ended = how
      notifyWaiters(request)
    },
    waitFor(predicate, timeoutMs) {
      const found = requests.find(predicate)
      if (found) return Promise.resolve(found)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          one.settle(new Error(`no such request within ${timeoutMs} ms (${requests.length} others came)`))
        }, timeoutMs)
        const one: Waiter = {
          predicate,
          settle(result) {
            clearTimeout(timer)
            waiters.delete(one)
            if (result instanceof Error) reject(result)
            else resolve(result)
          },
        }
        waiters.add(one)
      })
    },
    close() {
      for (const one of waiters) one.settle(new Error('the model server was closed'))
      if (descriptor !== null) closeSync(descriptor)
      descriptor = null
    },
  }
}

type Waiter = {
  predicate: (request: SeenRequest) => boolean
  settle: (result: SeenRequest | Error) => void
}
