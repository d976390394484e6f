import { createConnection, createServer, type Server } from 'node:net'

/**
 * Forwards connections from a local port to the platform's unix socket in a shared folder. A sandbox without
 * a network uses it for this program and the runtimes.
 */
export function startGateway(socketPath: string, port: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = createConnection({ path: socketPath, allowHalfOpen: true })
    near.setNoDelay(true)
    near.pipe(far)
    far.pipe(near)
    // When either end breaks, the other one is closed too.
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
