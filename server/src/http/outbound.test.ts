import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { listen } from './listen.ts'
import { attachOutbound, withOwnAddress } from './outbound.ts'

test('requests for the platform through its proxy are served directly, also with the address of a forwarder', async (t) => {
  const outbound: string[] = []
  let port = 0
  const { server, close } = await listen({ host: '127.0.0.1', port: 0 }, (request, response) =>
    withOwnAddress(port, (own, answer) => {
      if (!own.url?.startsWith('/')) outbound.push(own.url ?? '')
      answer.end(own.url)
    })(request, response),
  )
  port = (server.address() as AddressInfo).port
  attachOutbound(
    server,
    {
      async connect(request, socket) {
        outbound.push(request.url ?? '')
        socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n')
      },
    },
    port,
  )
  t.after(() => close(0))
  const send = async (...lines: string[]) => {
    const socket = createConnection({ host: '127.0.0.1', port })
    await once(socket, 'connect')
    socket.end(lines.join('\r\n'))
    return text(socket)
  }
  const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`

  for (const own of [`127.0.0.1:${port}`, '127.82.83.84:40123']) {
    assert.match(await send(get(`http://${own}/mcp?a=1`)), /\r\n\r\n\/mcp\?a=1$|\/mcp\?a=1/)
    assert.match(
      await send(`CONNECT ${own} HTTP/1.1\r\nHost: ${own}\r\n\r\n${get('/mcp')}`),
      /Connected[\s\S]*\/mcp/,
    )
  }
  assert.deepEqual(outbound, [])
  for (const other of ['127.0.0.1:1', '127.82.83.85:40123', 'example.com:443'])
    assert.match(await send(`CONNECT ${other} HTTP/1.1\r\nHost: ${other}\r\n\r\n`), /403/)
  assert.deepEqual(outbound, ['127.0.0.1:1', '127.82.83.85:40123', 'example.com:443'])
})
