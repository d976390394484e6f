import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { listen } from './listen.ts'

/** Sends the pieces one after another, each after the previous response, and returns the last response. */
async function lastReply(pieces: string[], options: Parameters<typeof listen>[2] = {}) {
  const listening = await listen({ host: '127.0.0.1', port: 0 }, (_, response) => response.end('ok'), options)
  const address = listening.server.address()
  assert.ok(typeof address === 'object' && address)
  try {
    const socket = connect(address.port, '127.0.0.1')
    for (const piece of pieces.slice(0, -1)) {
      socket.write(piece)
      await once(socket, 'data')
    }
    socket.write(pieces.at(-1) ?? '')
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    return { head, body: JSON.parse(body) }
  } finally {
    await listening.close(0)
  }
}

test('408 for a request that does not arrive completely in time', async () => {
  const limits = { requestTimeout: 100, headersTimeout: 100, connectionsCheckingInterval: 20 }
  const { head, body } = await lastReply(['GET / HTTP/1.1\r\nHost: x\r\n'], limits)
  assert.match(head, /^HTTP\/1\.1 408 Request Timeout\r\n/)
  assert.equal(body.error, 'request_timeout')
  assert.ok(head.includes(`x-request-id: ${body.request_id}`))
})

test('400 for bytes that are not HTTP, also after another request, with a new id', async () => {
  const first = 'GET / HTTP/1.1\r\nHost: x\r\nX-Request-ID: first\r\n\r\n'
  const { head, body } = await lastReply([first, '\0\0\r\n\r\n'])
  assert.match(head, /^HTTP\/1\.1 400 Bad Request\r\n/)
  assert.equal(body.error, 'malformed_request')
  assert.match(body.request_id, /^[0-9a-f-]{36}$/)
})
