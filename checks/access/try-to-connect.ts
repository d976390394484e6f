import { WebSocket } from 'ws'

/** Opens a socket and returns `ok`, the close code, or status and error of the refused upgrade. */
export async function tryToConnect(url: string, headers: Record<string, string>): Promise<string> {
  const socket = new WebSocket(url, { headers, handshakeTimeout: 60_000 })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  socket.on('error', reject)
  // A socket that is opened only to be closed sends no pong.
  socket.on('open', () => socket.ping())
  socket.on('pong', () => resolve('ok'))
  socket.on('close', (code) => resolve(`close ${code}`))
  socket.on('unexpected-response', async (_request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const { error } = JSON.parse(String(Buffer.concat(chunks))) as { error: string }
    resolve(`${response.statusCode} ${error}`)
  })
  try {
    return await promise
  } finally {
    socket.terminate()
  }
}
