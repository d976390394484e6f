import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createConnection, createServer, type NetConnectOpts, type Server } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFakeClock } from '../kit/fake-clock.ts'
import { startForwarder } from './forwarder.ts'

const host = '127.0.0.1'

/** A platform that answers each client, at its end, with its name and what it received. */
async function startPlatform(name: string, at: NetConnectOpts = { port: 0, host }) {
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    let received = ''
    connection.on('data', (chunk) => {
      received += chunk
    })
    connection.on('end', () => connection.end(`${name} received ${received}`))
    connection.on('error', () => {})
  })
  server.listen(at)
  await once(server, 'listening')
  return server
}

const addressOf = (server: Server) => ({ host, port: (server.address() as AddressInfo).port })

function dial(port: number) {
  const client = createConnection({ port, host })
  client.on('error', () => {})
  return client
}

async function exchange(port: number, text: string): Promise<string> {
  const client = dial(port)
  client.end(text)
  const pieces: Buffer[] = []
  for await (const piece of client) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test('a connection to the local port reaches the socket; data and ends pass in both directions', async () => {
  const folder = mkdtempSync('/tmp/roost-gateway-test-')
  const path = join(folder, 'platform.sock')
  const platform = await startPlatform('socket', { path } as NetConnectOpts)
  const clock = createFakeClock()
  const forwarder = await startForwarder({ host, port: 0, locate: async () => ({ path }), clock })
  try {
    assert.equal(await exchange(forwarder.port, 'hello'), 'socket received hello')
  } finally {
    forwarder.close()
    platform.close()
    rmSync(folder, { recursive: true })
  }
})

test('a new connection goes to where the platform is now', async () => {
  const platforms = [await startPlatform('first'), await startPlatform('second')] as const
  let current: Server = platforms[0]
  const locate = async () => addressOf(current)
  const forwarder = await startForwarder({ host, port: 0, locate, clock: createFakeClock() })
  try {
    assert.equal(await exchange(forwarder.port, 'a'), 'first received a')
    current = platforms[1]
    assert.equal(await exchange(forwarder.port, 'b'), 'second received b')
  } finally {
    forwarder.close()
    for (const each of platforms) each.close()
  }
})

test('a connection waits while the platform refuses it, and is established when it returns', async () => {
  const gone = await startPlatform('gone')
  const at = addressOf(gone)
  gone.close()
  await once(gone, 'close')
  const clock = createFakeClock()
  let tries = 0
  const locate = async () => {
    tries += 1
    return at
  }
  const forwarder = await startForwarder({ host, port: 0, locate, clock })
  let isAnswered = false
  const answer = exchange(forwarder.port, 'patient').finally(() => {
    isAnswered = true
  })
  while (tries < 2) await clock.advance(250)
  const back = await startPlatform('back', at)
  try {
    while (!isAnswered) await clock.advance(250)
    assert.equal(await answer, 'back received patient')
  } finally {
    forwarder.close()
    back.close()
  }
})

test('when the platform stays unreachable the connection breaks instead of hanging', async () => {
  const clock = createFakeClock()
  const located = Promise.withResolvers<void>()
  const locate = async () => {
    located.resolve()
    return { path: '/tmp/roost-no-such.sock' }
  }
  const forwarder = await startForwarder({ host, port: 0, locate, clock })
  const client = dial(forwarder.port)
  let isClosed = false
  client.once('close', () => {
    isClosed = true
  })
  await located.promise
  while (!isClosed) await clock.advance(1000)
  forwarder.close()
  const none = await startForwarder({ host, port: 0, locate: async () => null, clock })
  await once(dial(none.port), 'close')
  none.close()
})

test('connections to a process that no longer responds are reset, those to others stay', async () => {
  const [silent, other] = [await startPlatform('silent'), await startPlatform('other')]
  let current = silent
  const locate = async () => addressOf(current)
  const forwarder = await startForwarder({ host, port: 0, locate, clock: createFakeClock() })
  try {
    const open = async (to: Server) => {
      current = to
      const accepted = once(to, 'connection')
      const client = dial(forwarder.port)
      client.write('x')
      const [far] = await accepted
      await once(far, 'data')
      return client
    }
    const [cut, kept] = [await open(silent), await open(other)]
    const failure = once(cut, 'error').catch((error) => [error])
    forwarder.cut(addressOf(silent))
    const [error] = await failure
    assert.equal(error.code, 'ECONNRESET')
    kept.end('y')
    const pieces: Buffer[] = []
    for await (const piece of kept) pieces.push(piece)
    assert.equal(String(Buffer.concat(pieces)), 'other received xy')
  } finally {
    forwarder.close()
    silent.close()
    other.close()
  }
})
