import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { followServer } from './closing.ts'

/** Longer than any test may take: a connection that ends earlier was not destroyed by the deadline. */
const graceMs = 600_000

async function open(handler: RequestListener = () => {}) {
  const server = createServer({ keepAliveTimeout: graceMs }, handler)
  const followed = followServer(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    server,
    followed,
    port,
    async [Symbol.asyncDispose]() {
      await followed.close(0)
    },
  }
}

async function send(port: number, text = 'GET / HTTP/1.1\r\nHost: roost\r\n\r\n') {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (piece: string) => {
    received += piece
  })
  // A destroyed connection emits an error as well.
  socket.on('error', () => {})
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received)))
  await once(socket, 'connect')
  socket.write(text)
  return { ended, socket }
}

test('close does not wait for connections without a complete request or for idle ones', async () => {
  await using world = await open((_request, response) => void response.end('done'))
  const silent = await send(world.port, '')
  const half = await send(world.port, 'GET / HTTP/1.1\r\n')
  const idle = await send(world.port)
  await once(idle.socket, 'data')
  await world.followed.close(graceMs)
  assert.equal(await silent.ended, '')
  assert.equal(await half.ended, '')
  assert.match(await idle.ended, /done$/)
})

test('close waits for an open response and sets Connection: close on it', async () => {
  await using world = await open()
  const requested = once(world.server, 'request')
  const request = await send(world.port)
  const [, response] = await requested
  let isClosed = false
  const closed = world.followed.close(graceMs).then(() => {
    isClosed = true
  })
  await new Promise(setImmediate)
  assert.equal(isClosed, false)
  response.end('done')
  await closed
  const reply = await request.ended
  assert.match(reply, /connection: close/i)
  assert.match(reply, /done/)
})

test('a long response that ends during the close arrives completely', async () => {
  const size = 8 * 1024 * 1024
  await using world = await open()
  const requested = once(world.server, 'request')
  const request = await send(world.port)
  const [, response] = await requested
  const closed = world.followed.close(graceMs)
  response.end('x'.repeat(size))
  await closed
  assert.equal((await request.ended).split('\r\n\r\n')[1]?.length, size)
})

test('close destroys an upgraded connection that is still open', async () => {
  await using world = await open()
  const upgraded = once(world.server, 'upgrade')
  const request = await send(
    world.port,
    'GET / HTTP/1.1\r\nHost: roost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  )
  await upgraded
  await world.followed.close(graceMs)
  assert.equal(await request.ended, '')
})

test('close destroys a response that is still open after the grace period', async () => {
  await using world = await open((_request, response) => void response.write('begun'))
  const request = await send(world.port)
  await once(request.socket, 'data')
  await world.followed.close(1)
  assert.match(await request.ended, /begun/)
})
