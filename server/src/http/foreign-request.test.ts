import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { withoutForeign } from './foreign-request.ts'
import { listen } from './listen.ts'

test('serves its own host names without an Origin, and no other', async (t) => {
  const { server, close } = await listen(
    { host: '127.0.0.1', port: 0 },
    withoutForeign(
      () => ['host.docker.internal', 'roost.internal'],
      (_, response) => void response.end(),
    ),
  )
  t.after(() => close(0))
  const { port } = server.address() as AddressInfo
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((done, refuse) => {
      request({ port, headers }, (response) => done(response.resume().statusCode))
        .on('error', refuse)
        .end()
    })
  const own = ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', 'host.docker.internal', 'roost.internal']
  for (const host of own.flatMap((name) => [name, `${name}:${port}`]))
    assert.equal(await status({ host }), 200, host)
  const foreign = [
    'evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    'localhost.',
    '127.0.0.1@evil.example',
    '[::2]',
  ]
  for (const host of foreign) assert.equal(await status({ host }), 403, host)
  for (const origin of ['null', 'http://127.0.0.1', ''])
    assert.equal(await status({ host: 'localhost', origin }), 403, origin)
})
