import { closeSync, openSync, writeSync } from 'node:fs'
import type { ProviderName } from './provider.ts'

export type KeyKind = 'x-api-key' | 'x-goog-api-key' | 'bearer' | 'query'

/** One request as it is logged; the names are those of the JSON lines. */
export type LoggedRequest = {
  time: string
  /** null when the path is no provider's. */
  provider: ProviderName | null
  method: string
  /** With its query, but without a key in it. */
  path: string
  model: string | null
  /** How the key came, null when none did. With several, that of the first in the order of `KeyKind`. */
  key_kind: KeyKind | null
  key: string | null
  /** All keys that came, so that a test can say that no other one did. */
  keys: Partial<Record<KeyKind, string>>
  /** What was decided, before any `sleep`; a cut answer has 200. */
  status: number
  /** `main`: a turn; `side`: what a CLI asks for itself; `probe`: anything else. */
  kind: 'main' | 'side' | 'probe'
  /** Names of the directives acted on, in order. */
  directives: string[]
  /** The first 500 characters of the current turn's user text. */
  user_text: string | null
}

/** A request as tests in the same process see it: how its answer ended is filled in when it has. */
export type SeenRequest = LoggedRequest & { ended: 'open' | 'answered' | 'cut' | 'client_gone' }

export type RequestLog = {
  requests: readonly SeenRequest[]
  add: (request: LoggedRequest) => SeenRequest
  end: (request: SeenRequest, how: SeenRequest['ended']) => void
  waitFor: (predicate: (request: SeenRequest) => boolean, timeoutMs: number) => Promise<SeenRequest>
  /** Closes the file and refuses those who still wait. */
  close: () => void
}

/**
 * Keeps the requests and writes each as a JSON line when its answer is decided. Written synchronously: whoever has
 * the first byte of an answer finds its line in the file. Throws when the file cannot be opened.
 */
export function createRequestLog(file: string | null): RequestLog {
  const requests: SeenRequest[] = []
  const waiting = new Set<Waiting>()
  let descriptor = file === null ? null : openSync(file, 'a')

  function tellWaiting(request: SeenRequest): void {
    for (const one of waiting) if (one.predicate(request)) one.settle(request)
  }

  return {
    requests,
    add(logged) {
      const request: SeenRequest = { ...logged, ended: 'open' }
      requests.push(request)
      if (descriptor !== null) writeSync(descriptor, `${JSON.stringify(logged)}\n`)
      tellWaiting(request)
      return request
    },
    end(request, how) {
      request.ended = how
      tellWaiting(request)
    },
    waitFor(predicate, timeoutMs) {
      const seen = requests.find(predicate)
      if (seen) return Promise.resolve(seen)
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          one.settle(new Error(`no such request within ${timeoutMs} ms (${requests.length} others came)`))
        }, timeoutMs)
        const one: Waiting = {
          predicate,
          settle(result) {
            clearTimeout(timer)
            waiting.delete(one)
            if (result instanceof Error) reject(result)
            else resolve(result)
          },
        }
        waiting.add(one)
      })
    },
    close() {
      for (const one of waiting) one.settle(new Error('the model server was closed'))
      if (descriptor !== null) closeSync(descriptor)
      descriptor = null
    },
  }
}

type Waiting = {
  predicate: (request: SeenRequest) => boolean
  settle: (result: SeenRequest | Error) => void
}
