import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { dial } from './websocket.ts'

type End = { code: number; reason: string; httpStatus: number | null }

async function withServer(
  serve: (socket: WebSocket) => void,
  body: (url: string, server: Server) => Promise<void>,
): Promise<void> {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', serve)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    await body(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/link`, server)
  } finally {
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
    server.close()
  }
}

function open(url: string, maxMessageBytes = 8 * 1024 * 1024) {
  const messages: string[] = []
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<End>()
  const watchers = new Set<() => void>()
  const line = dial(
    { url, headers: { authorization: 'Bearer key' }, handshakeMs: 5000, maxMessageBytes },
    {
      onOpen: () => opened.resolve(),
      onMessage(text) {
        messages.push(text)
        for (const watch of watchers) watch()
      },
      onClose: (end) => ended.resolve(end),
    },
  )
  const received = (count: number) =>
    new Promise<void>((resolve) => {
      const watch = () => messages.length >= count && resolve()
      watchers.add(watch)
      watch()
    })
  return { line, messages, opened: opened.promise, ended: ended.promise, received }
}

test('messages of every size pass in both directions, in order', async () => {
  await withServer(
    (socket) => socket.on('message', (data) => socket.send(String(data))),
    async (url) => {
      const { line, messages, opened, received } = open(url)
      await opened
      const sent = [0, 1, 125, 126, 127, 65_535, 65_536, 3_000_000].map((size) => 'ä'.repeat(size))
      for (const text of sent) line.send(text)
      await received(sent.length)
      assert.deepEqual(
        messages.map((text) => text.length),
        sent.map((text) => text.length),
      )
      assert.ok(messages.every((text, index) => text === sent[index]))
      line.close()
    },
  )
})

test('fragments are joined, and a ping between them is answered', async () => {
  let ponged = 0
  await withServer(
    (socket) => {
      socket.on('pong', () => {
        ponged += 1
      })
      socket.send('one ', { fin: false })
      socket.ping('?')
      socket.send('message', { fin: true })
      socket.on('message', (data) => socket.send(`${data} ${ponged}`))
    },
    async (url) => {
      const { line, messages, received } = open(url)
      await received(1)
      line.send('pongs:')
      await received(2)
      assert.deepEqual(messages, ['one message', 'pongs: 1'])
      line.close()
    },
  )
})

test('the code and reason of a close are reported', async () => {
  await withServer(
    (socket) => socket.close(4009, 'replaced'),
    async (url) => {
      assert.deepEqual(await open(url).ended, { code: 4009, reason: 'replaced', httpStatus: null })
    },
  )
})

test('a refused upgrade is reported with its status', async () => {
  const server = createServer()
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  assert.equal((await open(`ws://127.0.0.1:${port}/link`).ended).httpStatus, 401)
  server.close()
})

test('a missing server, a broken connection and an oversized message close the socket', async () => {
  assert.equal((await open('ws://127.0.0.1:1/link').ended).code, 1006)
  await withServer(
    (socket) => socket.terminate(),
    async (url) => assert.equal((await open(url).ended).code, 1006),
  )
  await withServer(
    (socket) => socket.send('x'.repeat(2000)),
    async (url) => assert.equal((await open(url, 1000).ended).code, 1009),
  )
})
