import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startGitServer } from '@roost/test-support/git/index'
import { createThrowawayVault } from '../../foundation/vault/index.ts'
import type { Located } from '../../kit/addresses.ts'
import { secret } from '../../kit/secret.ts'
import { silentLog } from '../../ports/log.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { bound, done, inSync } from './test/bound.ts'
import { createTransfers } from './transfer.ts'

forEachDialect((_name, open) => {
  test('an agent from a repository is bound: with a token to its own branch, else in source mode', async () => {
    await using one = await bound(open)
    await one.look()
    const config = await one.call('GET', 'config')
    assert.equal(config.status, 200, JSON.stringify(config.json))
    assert.match(config.json.working_branch, /^roost\/one\/[a-z0-9-]+$/)
    assert.deepEqual([config.json.source_branch, config.json.source_mode], ['main', false])
    const request = one.world.link.calls.find(({ t }) => t === 'git.bind')
    assert.ok(!JSON.stringify(request?.request).includes('tok'), 'no token is sent to the agent')
    const status = (await one.call('GET', 'status')).json
    assert.deepEqual(
      [status.sync_status, status.last_commit.date],
      ['up_to_date', '2030-01-01T00:00:00.000Z'],
    )
    const [commit] = (await one.call('GET', 'log')).json.commits
    assert.deepEqual([commit.short_sha, commit.date], ['aaaaaaa', '2030-01-01T00:00:00.000Z'])
    assert.equal((await one.call('GET', 'sync-state')).json.state, 'green')

    await using other = await bound(open, {})
    await other.look()
    assert.equal((await other.call('GET', 'config')).json.source_mode, true)
    assert.equal((await other.call('POST', 'sync', {})).json.error, 'conflict')
    assert.equal((await other.call('POST', 'pull')).status, 200)
  })

  test("403 agent_not_permitted: a permitted caller can read another agent's git but not pull for it", async () => {
    await using one = await bound(open)
    await one.look()
    const { world, owner, agent } = one
    await world.request(owner.key, 'POST', '/api/agents', { name: 'caller' })
    await world.request(owner.key, 'POST', '/api/agents/caller/permissions/one')
    const ask = async (id: string, method: string, path: string) => {
      const { status, json } = await world.request(
        await world.agentKey(id),
        method,
        `/api/agents/one/git/${path}`,
      )
      return [status, json.error]
    }
    const { id } = await world.row('caller')
    assert.deepEqual(await ask(id, 'GET', 'status'), [200, undefined])
    assert.deepEqual(await ask(id, 'POST', 'pull'), [403, 'agent_not_permitted'])
    assert.deepEqual(await ask(agent.id, 'POST', 'pull'), [200, undefined])
  })

  test('three consecutive failures raise the alert and pause the schedules; one success ends both', async () => {
    await using one = await bound(open)
    const { world, agent, script } = one
    await one.look()
    await one.call('PUT', 'freeze-schedules-if-failing', { enabled: true })
    script.failed = 'The git host cannot be reached.'
    for (const failures of [1, 2, 3]) {
      assert.equal(await world.area.git.frozenAfter(agent.id), null)
      assert.equal(one.raised.length, 0)
      await one.look()
      assert.equal((await one.call('GET', 'sync-state')).json.consecutive_failures, failures)
    }
    assert.equal(await world.area.git.frozenAfter(agent.id), 3)
    assert.deepEqual(
      one.raised.map(({ kind }) => kind),
      ['sync_failing'],
    )
    const state = (await one.call('GET', 'sync-state')).json
    assert.deepEqual([state.state, state.frozen, state.last_error_summary], ['red', true, script.failed])
    assert.deepEqual(await world.lastEvent('git.sync_changed'), {
      state: 'red',
      last_sync_status: 'failed',
      consecutive_failures: 3,
    })
    const health = await world.request(one.owner.key, 'GET', '/api/agents/sync-health')
    assert.deepEqual(
      health.json.agents.map((each: { name: string }) => each.name),
      ['one'],
    )
    script.failed = null
    await one.look()
    assert.equal(await world.area.git.frozenAfter(agent.id), null)
    assert.ok(one.cleared.some(({ kind }) => kind === 'sync_failing'))
  })

  test('409 a conflict names its type and class, counts as a failure, and a look does not clear it', async () => {
    await using one = await bound(open)
    await one.look()
    one.script.end = { outcome: 'conflict', conflict: 'diverged', message: 'The remote has moved.' }
    const reply = await one.call('POST', 'sync', { message: 'work' })
    assert.equal(reply.status, 409)
    assert.deepEqual(
      [
        reply.json.error,
        reply.json.conflict_type,
        reply.headers['x-conflict-type'],
        reply.headers['x-conflict-class'],
      ],
      ['git_conflict', 'diverged', 'diverged', 'diverged_history'],
    )
    await one.look()
    assert.equal((await one.call('GET', 'sync-state')).json.consecutive_failures, 1)
    one.script.end = done
    assert.equal((await one.call('POST', 'sync', {})).json.files_changed, 1)
    assert.equal((await one.call('GET', 'sync-state')).json.consecutive_failures, 0)
    one.script.end = { outcome: 'refused', message: 'no such path' }
    assert.equal((await one.call('POST', 'sync', { paths: ['x'] })).status, 422)
    assert.equal((await one.call('POST', 'sync', { paths: ['../x'] })).status, 422)
  })

  test('a credential in a remote URL raises an alert; an agent without a repository has no git', async () => {
    await using one = await bound(open)
    await one.look()
    one.script.state = { ...inSync, has_credential: true }
    await one.look()
    assert.deepEqual(
      one.raised.map(({ kind }) => kind),
      ['remote_credential'],
    )
    await one.world.request(one.owner.key, 'POST', '/api/agents', { name: 'plain' })
    const plain = (path: string) => one.world.request(one.owner.key, 'GET', `/api/agents/plain/git/${path}`)
    assert.deepEqual([(await plain('status')).json.git_enabled, (await plain('config')).status], [false, 404])
    assert.equal((await plain('sync-state')).json.error, 'git_not_configured')
  })
})

test('a ticket opens one repository for a limited time, and pushes only if allowed; the token stays in the platform', async () => {
  await using server = await startGitServer()
  await server.commit('acme/one', { 'x.txt': '1' })
  await server.git('acme/one', 'config', 'http.receivepack', 'true')
  server.behave('private')
  const now = { value: new Date('2030-01-01T00:00:00Z') }
  const located: string[] = []
  let found: Located = { ok: true, addresses: ['127.0.0.1'] }
  const transfers = createTransfers({
    vault: createThrowawayVault(),
    clock: { now: () => now.value },
    log: silentLog,
    gitUrl: () => base,
    // An unresolvable name: only the located address can be connected to.
    addressOf: (repository) => `${server.url.replace('127.0.0.1', 'git.test')}/${repository}`,
    tokenOf: async () => secret('tok-1'),
    locate: async (host) => {
      located.push(host)
      return found
    },
  })
  const proxy = createServer((request, response) => void transfers.handle(request, response))
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening))
  // The cast is safe: a TCP server has an address of this type.
  const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/git`
  try {
    const { url, ticket } = transfers.open({ agentId: 'a', repository: 'acme/one', mayPush: false })
    const ask = async (address: string, bearer: string | null, service = 'git-upload-pack') => {
      const headers = bearer === null ? {} : { authorization: `Bearer ${bearer}` }
      const reply = await fetch(`${address}/info/refs?service=${service}`, { headers })
      return { status: reply.status, text: await reply.text() }
    }
    const open = await ask(url, ticket)
    assert.equal(open.status, 200)
    assert.ok(!ticket.includes('tok-1') && !open.text.includes('tok-1'))
    assert.equal((await ask(url, ticket, 'git-receive-pack')).status, 403)
    assert.equal((await ask(`${base}/acme/two.git`, ticket)).status, 404)
    assert.equal((await ask(`${base}/acme/one.git/../two.git`, ticket)).status, 404)
    for (const bad of [null, 'x', `${ticket}x`]) assert.equal((await ask(url, bad)).status, 401)
    const pushing = transfers.open({ agentId: 'a', repository: 'acme/one', mayPush: true })
    assert.equal((await ask(url, pushing.ticket, 'git-receive-pack')).status, 200)
    assert.equal(await transfers.mayPush('a', 'acme/one'), true)
    server.behave('redirect')
    assert.equal((await ask(url, ticket)).status, 502)
    server.behave('private')
    const requestCount = server.requests.length
    found = { ok: false, fault: 'inner_address' }
    assert.equal((await ask(url, ticket)).status, 502)
    assert.equal(server.requests.length, requestCount)
    assert.deepEqual(new Set(located), new Set(['git.test']))
    now.value = new Date('2030-01-01T00:02:01Z')
    assert.equal((await ask(url, ticket)).status, 401)
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
})
