import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGateway } from './gateway.ts'

test('a connection to the local port comes out at the socket, with both directions and their ends', async () => {
  const folder = mkdtempSync('/tmp/roost-gateway-test-')
  const path = join(folder, 'platform.sock')
  const platform = createServer({ allowHalfOpen: true }, (connection) => {
    let heard = ''
    connection.on('data', (chunk) => {
      heard += chunk
    })
    connection.on('end', () => connection.end(`heard ${heard}`))
  })
  await new Promise<void>((done) => platform.listen(path, done))
  const gateway = await startGateway(path, 0)
  try {
    const { port } = gateway.address() as AddressInfo
    const client = createConnection({ port, host: '127.0.0.1' })
    client.end('hello')
    const pieces: Buffer[] = []
    for await (const piece of client) pieces.push(piece)
    assert.equal(Buffer.concat(pieces).toString(), 'heard hello')
  } finally {
    gateway.close()
    platform.close()
    rmSync(folder, { recursive: true })
  }
})

test('a platform that is away breaks the connection instead of holding it', async () => {
  const gateway = await startGateway('/tmp/roost-no-such.sock', 0)
  const { port } = gateway.address() as AddressInfo
  const client = createConnection({ port, host: '127.0.0.1' })
  client.on('error', () => {})
  await new Promise((done) => client.once('close', done))
  gateway.close()
})
