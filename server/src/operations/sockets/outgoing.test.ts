import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { createOutgoing } from './outgoing.ts'

/** Both ends of a real connection. */
async function connect() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const received: string[] = []
  client.on('message', (data) => received.push(String(data)))
  const [ours] = (await once(server, 'connection')) as [WebSocket]
  await once(client, 'open')
  const end = async () => {
    client.terminate()
    server.close()
  }
  return { ours, client, received, [Symbol.asyncDispose]: end }
}

const message = (n: number) => Buffer.from(String(n))

test('any number of messages arrives in order', async () => {
  await using it = await connect()
  const outgoing = createOutgoing(it.ours)
  for (let n = 0; n < 250; n++) outgoing.send(message(n))
  await outgoing.drained()
  outgoing.send(Buffer.from('end'))
  while (it.received.at(-1) !== 'end') await once(it.client, 'message')
  assert.deepEqual(
    it.received.slice(0, -1),
    Array.from({ length: 250 }, (_, n) => String(n)),
  )
})

test('the third consecutive failure closes with 1011; a success resets the count', async () => {
  await using it = await connect()
  const outgoing = createOutgoing(it.ours)
  const send = it.ours.send.bind(it.ours)
  let isBroken = true
  // A network that sometimes fails to send.
  it.ours.send = ((data: Buffer, options: object, done: (error?: Error) => void) =>
    isBroken ? queueMicrotask(() => done(new Error('lost'))) : send(data, options, done)) as WebSocket['send']
  const lose = async (count: number) => {
    isBroken = true
    for (let i = 0; i < count; i++) outgoing.send(message(i))
    await new Promise((done) => setImmediate(done))
  }
  await lose(2)
  isBroken = false
  outgoing.send(message(9))
  await once(it.client, 'message')
  await lose(2)
  assert.equal(it.ours.readyState, WebSocket.OPEN)
  const closed = once(it.client, 'close')
  await lose(1)
  assert.equal((await closed)[0], 1011)
  outgoing.send(message(10))
  await outgoing.drained()
  assert.deepEqual(it.received, ['9'])
})
