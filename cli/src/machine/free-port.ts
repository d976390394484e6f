import { createServer } from 'node:net'

const first = 10_000
const count = 12_000

/**
 * A port of loopback that nobody listens on at this moment, outside of the range from which systems give
 * connections theirs: one of that range may belong to a connection before anybody listens on it.
 */
export async function freePort(chance: () => number = Math.random): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = first + Math.floor(chance() * count)
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
