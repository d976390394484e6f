import { createConnection, createServer, type Server } from 'node:net'

/**
 * In a sandbox without a network the platform is reached through a unix socket in a shared folder: every
 * connection to a local port goes there, for this program and for the runtimes alike.
 */
export function startGateway(socketPath: string, port: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = createConnection({ path: socketPath, allowHalfOpen: true })
    near.setNoDelay(true)
    near.pipe(far)
    far.pipe(near)
    // Either end that breaks takes the other with it.
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
