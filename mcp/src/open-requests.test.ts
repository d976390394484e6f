import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { followRequests } from './open-requests.ts'

test('what is being answered is waited for, a connection on which nothing was asked is not', async () => {
  const server = createServer()
  const requests = followRequests(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const silent = connect(port, '127.0.0.1')
  await once(silent, 'connect')
  try {
    await requests.none()
    const asked = once(server, 'request')
    const reply = fetch(`http://127.0.0.1:${port}`)
    const [, response] = await asked
    let isNone = false
    const none = requests.none().then(() => {
      isNone = true
    })
    await new Promise(setImmediate)
    assert.equal(isNone, false)
    response.end('done')
    assert.equal(await (await reply).text(), 'done')
    await none
  } finally {
    silent.destroy()
    server.closeAllConnections()
    server.close()
  }
})
