import { Agent, request } from 'node:http'
import type { Received } from './replies.ts'
import type { Request } from './requests.ts'

/** Far above the time of any reply, so that only a request that hangs fails. */
const hangMs = 60_000
/** Time to read a stream, which lasts as long as its run. */
const streamMs = 150
const agent = new Agent({ keepAlive: true })

/** Sends a request without normalizing its path or headers. Rejects when there is no reply. */
export function send(baseUrl: string, { method, path, headers, body }: Request): Promise<Received> {
  const { hostname, port } = new URL(baseUrl)
  // Node leaves the length out for some methods, and the server then takes the body for another request.
  const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  return new Promise((done, refuse) => {
    const sent = request({
      hostname,
      port,
      method,
      path,
      agent,
      headers: { ...headers, ...length },
      signal: AbortSignal.timeout(hangMs),
    })
    sent.on('error', (error) =>
      refuse(error.name === 'AbortError' ? new Error(`no reply after ${hangMs / 1000} s`) : error),
    )
    sent.on('response', (reply) => {
      const chunks: Buffer[] = []
      const end = (isWhole: boolean) => {
        clearTimeout(cut)
        const text = Buffer.concat(chunks).toString('utf8')
        done({ status: reply.statusCode ?? 0, headers: reply.headers, text, isWhole })
      }
      const isStream = /event-stream|ndjson/.test(String(reply.headers['content-type']))
      const cut = setTimeout(
        () => {
          end(false)
          reply.destroy()
        },
        isStream ? streamMs : hangMs,
      )
      reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      reply.on('end', () => end(true))
      reply.on('error', (error) => (isStream ? end(false) : refuse(error)))
    })
    sent.end(body ?? undefined)
  })
}
