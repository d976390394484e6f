import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import {
  innerAnswers,
  innerHosts,
  startRebinding,
  startRedirecting,
  startTrap,
} from '@roost/test-support/inward'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import { createLocate, type Lookup } from '../../kit/addresses.ts'
import { secret } from '../../kit/secret.ts'
import { silentLog } from '../../ports/log.ts'
import { createTransfers } from './transfer.ts'

/**
 * Opens an agent's git transfer to a host, as used by git in the container and by the platform's push check.
 */
async function openTransfer(hostUrl: string, lookup: Lookup, mayBeInner = false) {
  const transfers = createTransfers({
    vault: createThrowawayVault(),
    clock: { now: () => new Date() },
    log: silentLog,
    gitUrl: () => base,
    addressOf: (repository) => `${hostUrl}/${repository}`,
    tokenOf: async () => secret('tok-1'),
    locate: createLocate({ lookup, mayBeInner }),
  })
  const proxy = createServer((request, response) => void transfers.handle(request, response))
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  // The cast is safe: a TCP server has an address of this type.
  const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/git`
  const { url, ticket } = transfers.open({ agentId: 'a', repository: 'acme/one', mayPush: true })
  const headers = { authorization: `Bearer ${ticket}` }
  return {
    async refs() {
      return (await fetch(`${url}/info/refs?service=git-upload-pack`, { headers })).status
    },
    async push() {
      return (await fetch(`${url}/git-receive-pack`, { method: 'POST', headers, body: '0000' })).status
    },
    mayPush: () => transfers.mayPush('a', 'acme/one').catch(() => 'refused'),
    [Symbol.dispose]() {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}

async function tryAll(hostUrl: string, lookup: Lookup, mayBeInner = false) {
  using way = await openTransfer(hostUrl, lookup, mayBeInner)
  return [await way.refs(), await way.push(), await way.mayPush()]
}

test("an agent's git reaches no internal host, however the git host is spelled or resolved", async () => {
  using trap = await startTrap()
  using trap6 = await startTrap('::1')
  const refused = [502, 502, 'refused']
  for (const host of innerHosts) {
    const hostUrl = `http://${host}:${host.startsWith('[') ? trap6.port : trap.port}`
    if (!URL.canParse(hostUrl)) continue
    assert.deepEqual(await tryAll(hostUrl, async () => ['127.0.0.1']), refused, host)
  }
  for (const answer of innerAnswers)
    assert.deepEqual(await tryAll(`http://git.test:${trap.port}`, async () => answer), refused, answer.join())
  assert.deepEqual([trap.connections(), trap6.connections()], [0, 0])
})

test('nor one that a second lookup of the name would return', async () => {
  for (const ask of ['refs', 'push', 'mayPush'] as const) {
    using host = await startRebinding()
    using way = await openTransfer(host.url, host.lookup, true)
    await way[ask]()
    assert.deepEqual(host.seen(), { questions: 1, reached: true, trapped: 0 }, ask)
  }
})

test('nor one that a redirect points to', async () => {
  using trap = await startTrap()
  using outside = await startRedirecting(`http://127.0.0.1:${trap.port}`)
  const outcomes = await tryAll(`http://git.test:${outside.port}`, async () => ['127.0.0.1'], true)
  assert.deepEqual(outcomes, [502, 502, false])
  assert.deepEqual([outside.requests.length, trap.connections()], [3, 0])
})
