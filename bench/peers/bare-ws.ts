/** Peer of the live sockets: sends every event to every client. */
import type { AddressInfo } from 'node:net'
import { setImmediate as soon } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import type { Command, Told } from './live-sockets.ts'

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
const tell = (told: Told) => process.send?.(told)

let before = process.cpuUsage()
process.on('message', async (command: Command) => {
  if (command === 'usage') {
    const { user, system } = process.cpuUsage(before)
    tell({ cpuMs: (user + system) / 1000 })
    return
  }
  const { events, fields } = command
  before = process.cpuUsage()
  for (let n = 0; n < events; n += 1) {
    const message = Buffer.from(JSON.stringify({ type: 'execution_created', _eid: String(n), n, ...fields }))
    for (const client of server.clients) client.send(message, { binary: false })
    await soon()
  }
})
server.on('listening', () => {
  const { port } = server.address() as AddressInfo
  tell({ urls: Array.from({ length: 1000 }, () => `ws://127.0.0.1:${port}`) })
})
