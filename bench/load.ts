import { Agent, request } from 'node:http'
import { quantile } from './measure.ts'

export type LoadResult = { perSecond: number; p50: number; p99: number; errors: number }

/** Repeats the same GET on `connections` connections for `seconds`, one request at a time on each. */
export async function load(
  url: string,
  headers: Record<string, string>,
  connections: number,
  seconds: number,
): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const deadline = performance.now() + seconds * 1000
  const times: number[] = []
  let errors = 0
  const once = () =>
    new Promise<void>((resolve) => {
      const started = performance.now()
      const sent = request(url, { agent, headers }, (response) => {
        response.resume()
        response.on('end', () => {
          times.push(performance.now() - started)
          if (response.statusCode !== 200) errors += 1
          resolve()
        })
      })
      sent.on('error', () => {
        errors += 1
        resolve()
      })
      sent.end()
    })
  const started = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < deadline) await once()
    }),
  )
  const elapsed = (performance.now() - started) / 1000
  agent.destroy()
  return { perSecond: times.length / elapsed, p50: quantile(times, 0.5), p99: quantile(times, 0.99), errors }
}
