import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { followServer } from './closing.ts'

/** Longer than any test may take: what ends earlier was not cut. */
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

async function ask(port: number, text = 'GET / HTTP/1.1\r\nHost: roost\r\n\r\n') {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.setEncoding('utf8').on('data', (piece: string) => {
    heard += piece
  })
  // One that is cut says so by an error as well.
  socket.on('error', () => {})
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(heard)))
  await once(socket, 'connect')
  socket.write(text)
  return { ended, socket }
}

test('connections on which nothing was asked, or that are kept for later, hold nothing up', async () => {
  await using world = await open((_request, response) => void response.end('done'))
  const silent = await ask(world.port, '')
  const half = await ask(world.port, 'GET / HTTP/1.1\r\n')
  const kept = await ask(world.port)
  await once(kept.socket, 'data')
  await world.followed.close(graceMs)
  assert.equal(await silent.ended, '')
  assert.equal(await half.ended, '')
  assert.match(await kept.ended, /done$/)
})

test('a reply that is being made is waited for, and says that nothing more is heard', async () => {
  await using world = await open()
  const requested = once(world.server, 'request')
  const asked = await ask(world.port)
  const [, response] = await requested
  let isClosed = false
  const closed = world.followed.close(graceMs).then(() => {
    isClosed = true
  })
  await new Promise(setImmediate)
  assert.equal(isClosed, false)
  response.end('done')
  await closed
  const reply = await asked.ended
  assert.match(reply, /connection: close/i)
  assert.match(reply, /done/)
})

test('what was written of a long reply before its end arrives whole', async () => {
  const size = 8 * 1024 * 1024
  await using world = await open()
  const requested = once(world.server, 'request')
  const asked = await ask(world.port)
  const [, response] = await requested
  const closed = world.followed.close(graceMs)
  response.end('x'.repeat(size))
  await closed
  assert.equal((await asked.ended).split('\r\n\r\n')[1]?.length, size)
})

test('an upgraded connection that nobody has closed is cut', async () => {
  await using world = await open()
  const upgraded = once(world.server, 'upgrade')
  const asked = await ask(
    world.port,
    'GET / HTTP/1.1\r\nHost: roost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  )
  await upgraded
  await world.followed.close(graceMs)
  assert.equal(await asked.ended, '')
})

test('a reply that does not end is cut when its time is over', async () => {
  await using world = await open((_request, response) => void response.write('begun'))
  const asked = await ask(world.port)
  await once(asked.socket, 'data')
  await world.followed.close(1)
  assert.match(await asked.ended, /begun/)
})
