import { createServer } from 'node:net'

const firstPort = 10_000
const portCount = 12_000

/**
 * Returns a free loopback port below the ephemeral range. A port of that range could be taken by an outgoing
 * connection before the caller listens on it.
 */
export async function freePort(random: () => number = Math.random): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = firstPort + Math.floor(random() * portCount)
    if (await isFree(port)) return port
  }
  throw new Error('There is no free port on loopback.')
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
