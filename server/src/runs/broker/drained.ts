import type { ClientRequest, ServerResponse } from 'node:http'

/** Resolves when the stream accepts more data, or is closed. */
export function drained(stream: ClientRequest | ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => {
    stream.off('drain', done)
    stream.off('close', done)
    resolve()
  }
  if (stream.destroyed) resolve()
  else stream.on('drain', done).on('close', done)
  return promise
}
