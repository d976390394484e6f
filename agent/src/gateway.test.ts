import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGateway } from './gateway.ts'

test('a connection to the local port reaches the socket; data and ends pass in both directions', async () => {
  const folder = mkdtempSync('/tmp/roost-gateway-test-')
  const path = join(folder, 'platform.sock')
  const platform = createServer({ allowHalfOpen: true }, (connection) => {
    let received = ''
    connection.on('data', (chunk) => {
      received += chunk
    })
    connection.on('end', () => connection.end(`heard ${received}`))
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

test('when the platform is unreachable the connection breaks instead of hanging', async () => {
  const gateway = await startGateway('/tmp/roost-no-such.sock', 0)
  const { port } = gateway.address() as AddressInfo
  const client = createConnection({ port, host: '127.0.0.1' })
  client.on('error', () => {})
  await new Promise((done) => client.once('close', done))
  gateway.close()
})
