import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { before, test } from 'node:test'
import { connect } from 'node:tls'
import { readHello } from './hello.ts'

/** The first bytes sent by a TLS client. */
async function helloOf(servername: string | null): Promise<Buffer> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect({
    ...Object(server.address()),
    host: '127.0.0.1',
    ...(servername ? { servername } : {}),
  })
  client.on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [first] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return first
}
let hello: Buffer
before(async () => {
  hello = await helloOf('Api.Example.com')
})

test('the server name is read only when the hello is complete', () => {
  assert.deepEqual(readHello(hello), { name: 'api.example.com' })
  for (let length = 0; length < hello.length; length += 1)
    assert.equal(readHello(hello.subarray(0, length)), 'more', String(length))
  assert.deepEqual(readHello(Buffer.concat([hello, hello])), { name: 'api.example.com' })
})

test('a hello split into records of any size is read alike', () => {
  const message = hello.subarray(5)
  for (const size of [1, 7, 100]) {
    const records: Buffer[] = []
    for (let at = 0; at < message.length; at += size) {
      const piece = message.subarray(at, at + size)
      records.push(Buffer.from([22, 3, 1, piece.length >> 8, piece.length & 255]), piece)
    }
    assert.deepEqual(readHello(Buffer.concat(records)), { name: 'api.example.com' })
  }
})

test('a missing name or another protocol differs from a broken hello', async () => {
  assert.equal(readHello(await helloOf(null)), 'none')
  for (const text of ['GET / HTTP/1.1\r\n', 'SSH-2.0-x\r\n', '\0'])
    assert.equal(readHello(Buffer.from(text)), 'none')
  assert.equal(readHello(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])), 'broken')
  assert.equal(readHello(Buffer.concat([hello.subarray(0, 3), Buffer.from([0, 1, 1, 23, 3])])), 'more')
})

test('no changed byte makes it throw', () => {
  for (let at = 0; at < hello.length; at += 1) {
    for (const value of [0, 1, 127, 255]) {
      const changed = Buffer.from(hello)
      changed[at] = value
      const read = readHello(changed)
      assert.ok(typeof read === 'string' || typeof read.name === 'string')
    }
  }
})
