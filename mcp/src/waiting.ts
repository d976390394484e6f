import type { ServerContext } from '@modelcontextprotocol/server'

const everyMs = 5_000

/**
 * Sends a progress notification every five seconds while slow work runs, if the caller requested them with a
 * `progressToken`. A failed notification does not end the work.
 */
export function createWaiting(context: Pick<ServerContext, 'mcpReq'>) {
  return async function waiting<T>(what: string, work: Promise<T>): Promise<T> {
    const progressToken = context.mcpReq._meta?.progressToken
    if (progressToken === undefined) return work
    const began = performance.now()
    const timer = setInterval(() => {
      const seconds = Math.round((performance.now() - began) / 1000)
      const params = { progressToken, progress: seconds, message: `${what} (${seconds} s)` }
      context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => clearInterval(timer))
    }, everyMs)
    try {
      return await work
    } finally {
      clearInterval(timer)
    }
  }
}
