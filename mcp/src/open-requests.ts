import type { Server } from 'node:http'

/**
 * Follows the requests that a server is answering. `none` resolves as soon as there are none, however many
 * connections are open: one that is kept for later, or on which nothing was asked yet, holds nothing up.
 */
export function followRequests(server: Server): { none(): Promise<void> } {
  let open = 0
  let tell = () => {}
  server.on('request', (_request, response) => {
    open += 1
    response.once('close', () => {
      open -= 1
      if (open === 0) tell()
    })
  })
  return {
    none: () =>
      new Promise((resolve) => {
        tell = resolve
        if (open === 0) resolve()
      }),
  }
}
