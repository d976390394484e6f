import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { Fault } from '../kit/fault.ts'
import { silentLog } from '../ports/log.ts'
import { serveSockets } from './sockets.ts'

test('a refused upgrade carries the request id in its header and its body', async () => {
  const server = createServer()
  const admit = (error: Error) => async () => {
    throw error
  }
  const sockets = serveSockets(
    server,
    [
      { path: '/closed', maxPayload: 1, admit: admit(new Fault('not_authenticated')) },
      { path: '/broken', maxPayload: 1, admit: admit(new Error('the secret inside')) },
    ],
    silentLog,
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A server that listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo
  try {
    for (const [path, status, body] of [
      ['/nowhere', 404, { detail: 'There is nothing here.', error: 'not_found' }],
      ['/closed', 401, { detail: 'A bearer token is required.', error: 'not_authenticated' }],
      ['/broken', 500, { detail: 'Something went wrong on our side.', error: 'internal_error' }],
    ] as const) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { 'x-request-id': 'my-id' } })
      socket.on('error', () => {})
      const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
      assert.equal(reply.statusCode, status)
      assert.equal(reply.headers['x-request-id'], 'my-id')
      assert.deepEqual(await json(reply), {
        ...body,
        request_id: 'my-id',
        docs_url: `/help/errors/${body.error}`,
      })
    }
  } finally {
    sockets.close()
    server.closeAllConnections()
    server.close()
  }
})
