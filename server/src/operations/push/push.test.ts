import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import tls from 'node:tls'
import { type PushServer, startPushServer } from '@roost/test-support/push/index'
import { createRateLimits } from '../../foundation/rate-limits/index.ts'
import { createVault } from '../../foundation/vault/index.ts'
import { createLocate } from '../../kit/addresses.ts'
import { silentLog } from '../../ports/log.ts'
import { createWebPush } from '../../ports/push-service/web-push.ts'
import { createTestCertificates } from '../../test/certificates.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { openQueueWorld } from '../operator-queue/test/world.ts'
import { createPush, type Push, pushRoutes } from './index.ts'

const certificates = createTestCertificates()
let service: PushServer
before(async () => {
  const made = certificates('push')
  tls.setDefaultCACertificates([made.cert])
  service = await startPushServer(made)
})
after(async () => {
  assert.deepEqual(service.faults, [])
  await service.close()
})

const path = '/api/users/me/push-devices'

async function openPushWorld(open: OpenTestDb) {
  const vault = createVault(Buffer.alloc(32, 7))
  const processes: Push[] = []
  const world = await openQueueWorld(open, ({ db, clock, ephemeral, queue, runs }) => {
    /** Two processes of one installation on the same database. */
    processes.push(
      ...[1, 2].map(() =>
        createPush({
          ...{ db, clock, vault, log: silentLog, events: runs.events, items: queue.view },
          limits: createRateLimits({ ephemeral, clock }),
          users: { find: (id) => world.identity.users.find(id) },
          sessions: { holdOpen: (tx, jti) => world.identity.sessions.holdOpen(tx, jti) },
          pushService: createWebPush({
            locate: createLocate({
              lookup: async (host) => (host === 'inner.example.test' ? ['10.0.0.7'] : []),
              named: new Map([[service.at, '127.0.0.1']]),
            }),
            baseUrl: 'https://roost.example.com',
            clock,
          }),
        }),
      ),
    )
    const [first] = processes
    if (!first) throw new Error('There is no process.')
    return { routes: pushRoutes(first), itemAdded: first.itemAdded }
  })
  for (const push of processes.slice(0, 1)) world.identity.endedHooks.push(push.sessionsEnded)
  const signIn = async (account: Parameters<typeof world.identity.sessions.issue>[0]) =>
    (await world.identity.sessions.issue(account, { mode: 'email' })).access_token
  const person = async (role: 'user' | 'creator' | 'operator' | 'admin', email: string) => {
    const account = await world.identity.addUser(role, email)
    return { account, email, session: await signIn(account) }
  }
  const ownerAccount = (await world.identity.users.findLogin('ann@example.org'))?.account ?? assert.fail()
  const put = (session: string, of: object, name = 'Phone') =>
    world.request(session, 'PUT', path, { name, ...of })
  /** A new device of the session. */
  const device = async (session: string) => {
    const browser = service.subscribe()
    const { endpoint, keys } = browser
    const reply = await put(session, { endpoint, keys })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    return { browser, id: String(reply.json.id) }
  }
  return {
    ...world,
    ann: { account: ownerAccount, session: await signIn(ownerAccount) },
    newPerson: person,
    signIn,
    put,
    device,
    devices: async (session: string) => (await world.request(session, 'GET', path)).json,
    /** Both processes send what is due. */
    async deliver() {
      const signal = new AbortController().signal
      await Promise.all(
        processes.map((push) => push.loops.find(({ name }) => name === 'push.deliver')?.run(signal)),
      )
      // The event of the item wakes both as well.
      await Promise.all(processes.map((push) => push.settled()))
    },
    loop: (name: string) =>
      processes[0]?.loops.find((each) => each.name === name)?.run(new AbortController().signal),
    async [Symbol.asyncDispose]() {
      for (const push of processes) await push.close()
      await world[Symbol.asyncDispose]()
    },
  }
}

forEachDialect((_name, open) => {
  test('a new item is sent once to every device of those who may see it, and names agent and title only', async () => {
    await using world = await openPushWorld(open)
    const stranger = await world.newPerson('operator', 'stranger@example.org')
    const [own, other, foreign] = [
      await world.device(world.ann.session),
      await world.device(world.ann.session),
      await world.device(stranger.session),
    ]
    const { json } = await world.ask({
      request_id: 'r1',
      title: 'Deploy build 118?',
      question: 'The password is hunter2',
      options: ['yes', 'no'],
      context: { token: 'canary' },
      priority: 'high',
    })
    await world.deliver()
    await world.deliver()
    for (const { browser } of [own, other]) {
      const [received, ...more] = browser.received
      assert.deepEqual(more, [])
      assert.deepEqual(JSON.parse(received?.text ?? ''), {
        title: 'scout',
        body: 'Deploy build 118?',
        item: json.id,
      })
      assert.deepEqual([received?.topic, received?.urgency, received?.ttl], [json.id, 'high', 86_400])
      assert.equal(received?.contact, 'https://roost.example.com')
    }
    assert.equal(foreign.browser.attempts, 0)
    const key = (await world.request(world.ann.session, 'GET', '/api/push-key')).json.public_key
    assert.equal(own.browser.received[0]?.sender, key)
    const [listed] = await world.devices(world.ann.session)
    assert.deepEqual(
      [listed.name, listed.last_error, listed.last_sent_at],
      ['Phone', null, world.clock.now().toISOString()],
    )
    assert.doesNotMatch(JSON.stringify(listed), /endpoint|p256dh|auth/)
  })

  test('an addressee hears of the own items only; an admin hears of alerts of the platform', async () => {
    await using world = await openPushWorld(open)
    const uma = await world.newPerson('user', 'uma@example.org')
    const admin = await world.newPerson('admin', 'root@example.org')
    await world.share(uma.email)
    const [hers, theirs] = [await world.device(uma.session), await world.device(admin.session)]
    await world.ask({ request_id: 'r1', title: 'For operators' })
    await world.ask({ request_id: 'r2', title: 'For Uma', to_email: uma.email })
    await world.alert({ agentId: null, kind: 'retention_held', title: 'held' })
    await world.deliver()
    const bodies = ({ browser }: typeof hers) => browser.received.map(({ text }) => JSON.parse(text).body)
    assert.deepEqual(bodies(hers), ['For Uma'])
    assert.deepEqual(bodies(theirs).sort(), ['For Uma', 'For operators', 'held'])
  })

  test('a failed message is repeated with a growing wait, and not for an item that was answered meanwhile', async () => {
    await using world = await openPushWorld(open)
    const { browser } = await world.device(world.ann.session)
    browser.answer({ status: 503 }, { status: 429, headers: { 'retry-after': '600' } })
    await world.ask({ request_id: 'r1', title: 'First' })
    await world.deliver()
    assert.equal(browser.attempts, 1)
    const [failing] = await world.devices(world.ann.session)
    assert.equal(failing.last_error, 'The push service answered with status 503.')
    await world.clock.advance(29)
    await world.deliver()
    assert.equal(browser.attempts, 1)
    await world.clock.advance(1)
    await world.deliver()
    assert.equal(browser.attempts, 2)
    await world.clock.advance(599)
    await world.deliver()
    assert.equal(browser.attempts, 2)
    await world.clock.advance(1)
    await world.deliver()
    assert.equal(browser.received.length, 1)

    browser.answer({ status: 500 })
    const { json } = await world.ask({ request_id: 'r2', title: 'Second' })
    await world.deliver()
    assert.equal((await world.respond(json.id, { response: 'fine' })).status, 200)
    await world.clock.advance(3600)
    await world.deliver()
    assert.equal(browser.received.length, 1)
  })

  test('a push service that reports the end deletes the device; another refusal drops the message', async () => {
    await using world = await openPushWorld(open)
    const [gone, refused] = [await world.device(world.ann.session), await world.device(world.ann.session)]
    gone.browser.answer({ status: 410 })
    refused.browser.answer({ status: 403 })
    await world.ask({ request_id: 'r1', title: 'First' })
    await world.deliver()
    await world.clock.advance(3600)
    await world.deliver()
    const listed = await world.devices(world.ann.session)
    assert.deepEqual(
      listed.map(({ id, last_error }: { id: string; last_error: string }) => [id, last_error]),
      [[refused.id, 'The push service answered with status 403.']],
    )
    assert.equal(refused.browser.attempts, 1)
  })

  test('a device ends with its sign-out, a suspension, and lost access; a restart does not end it', async () => {
    await using world = await openPushWorld(open)
    const other = await world.signIn(world.ann.account)
    const [here, there] = [await world.device(world.ann.session), await world.device(other)]
    const caller = await world.identity.identify(`Bearer ${world.ann.session}`)
    assert.ok(caller.kind === 'session')
    await world.identity.sessions.logout(caller)
    const listed = await world.devices(other)
    assert.deepEqual(
      listed.map(({ id }: { id: string }) => id),
      [there.id],
    )
    const late = await world.put(world.ann.session, {
      endpoint: here.browser.endpoint,
      keys: here.browser.keys,
    })
    assert.equal(late.status, 401)

    const uma = await world.newPerson('operator', 'uma@example.org')
    await world.share(uma.email)
    const hers = await world.device(uma.session)
    await world.ask({ request_id: 'r1', title: 'Seen' })
    await world.deliver()
    assert.equal(hers.browser.received.length, 1)
    hers.browser.answer({ status: 503 })
    await world.ask({ request_id: 'r2', title: 'Too late' })
    await world.deliver()
    await world.request(world.owner.key, 'DELETE', '/api/agents/scout/share/uma@example.org')
    await world.clock.advance(60)
    await world.deliver()
    assert.equal(hers.browser.received.length, 1)

    const root = await world.newPerson('admin', 'root@example.org')
    const admin = await world.identity.identify(`Bearer ${root.session}`)
    assert.ok(admin.kind === 'session')
    await world.identity.people.suspend(admin, 'uma@example.org')
    await world.identity.people.unsuspend(admin, 'uma@example.org')
    assert.deepEqual(await world.devices(await world.signIn(uma.account)), [])
  })

  test('a new password ends the devices of all other sessions', async () => {
    await using world = await openPushWorld(open)
    const { sessions } = world.identity
    const [ip, old, next] = ['192.0.2.1', 'correct horse battery', 'correct horse staple 2']
    await sessions.setUp({ password: old }, ip)
    const signIn = async () => (await sessions.signIn({ username: 'admin', password: old, ip })).access_token
    const [here, there] = [await signIn(), await signIn()]
    const [own] = [await world.device(here), await world.device(there)]
    const caller = await world.identity.identify(`Bearer ${here}`)
    assert.ok(caller.kind === 'session')
    await sessions.changePassword(caller, { current: old, next }, { ip })
    const listed = await world.devices(here)
    assert.deepEqual(
      listed.map(({ id }: { id: string }) => id),
      [own.id],
    )
  })

  test('a browser belongs to the account that stored it last, and an account has ten devices', async () => {
    await using world = await openPushWorld(open)
    const uma = await world.newPerson('operator', 'uma@example.org')
    const { browser, id } = await world.device(world.ann.session)
    const again = await world.put(
      world.ann.session,
      { endpoint: browser.endpoint, keys: browser.keys },
      'New name',
    )
    assert.deepEqual([again.json.id, again.json.name], [id, 'New name'])
    await world.put(uma.session, { endpoint: browser.endpoint, keys: browser.keys })
    assert.deepEqual(await world.devices(world.ann.session), [])
    for (const [method, at] of [
      ['DELETE', `${path}/${id}`],
      ['POST', `${path}/${id}/test`],
    ] as const) {
      assert.equal((await world.request(world.ann.session, method, at)).json.error, 'not_found')
    }
    for (let n = 0; n < 11; n += 1) {
      await world.clock.advance(1)
      await world.device(world.ann.session)
    }
    assert.equal((await world.devices(world.ann.session)).length, 10)
    await world.clock.advance(61 * 24 * 3600)
    await world.loop('push.unseen')
    assert.deepEqual(await world.devices(await world.signIn(world.ann.account)), [])
  })

  test('refuses addresses that are not public https, keys off the curve, and API keys', async () => {
    await using world = await openPushWorld(open)
    const { keys } = service.subscribe()
    for (const endpoint of [
      'http://push.example.org/x',
      'https://user:secret@push.example.org/x',
      'https://127.0.0.1/x',
      'https://[::1]/x',
      'https://169.254.169.254/latest/meta-data',
      'https://inner.example.test/x',
      'https://2130706433/x',
      `https://push.example.org/${'x'.repeat(1100)}`,
    ]) {
      const { status, json } = await world.put(world.ann.session, { endpoint, keys })
      assert.deepEqual([status, json.detail?.[0].loc], [422, ['body', 'endpoint']], endpoint)
    }
    const wrongKey = {
      endpoint: 'https://push.example.org/x',
      keys: { ...keys, p256dh: `B${'A'.repeat(86)}` },
    }
    assert.deepEqual((await world.put(world.ann.session, wrongKey)).json.detail[0].loc, [
      'body',
      'keys',
      'p256dh',
    ])
    const browser = service.subscribe()
    const byKey = await world.put(world.owner.key, { endpoint: browser.endpoint, keys: browser.keys })
    assert.deepEqual([byKey.status, byKey.json.error], [403, 'human_only'])
  })

  test('a test reports what the push service says', async () => {
    await using world = await openPushWorld(open)
    const { browser, id } = await world.device(world.ann.session)
    const run = () => world.request(world.ann.session, 'POST', `${path}/${id}/test`)
    assert.deepEqual((await run()).json, { accepted: true, reason: null })
    assert.equal(JSON.parse(browser.received[0]?.text ?? '').item, null)
    browser.answer({ status: 500 }, { status: 404 })
    assert.match((await run()).json.reason, /status 500/)
    assert.match((await run()).json.reason, /ended/)
    assert.deepEqual(await world.devices(world.ann.session), [])
  })

  test('of the items of one agent a person hears twenty in ten minutes', async () => {
    await using world = await openPushWorld(open)
    const { browser } = await world.device(world.ann.session)
    for (let n = 0; n < 25; n += 1) await world.ask({ request_id: `r${n}`, title: `no. ${n}` })
    await world.deliver()
    assert.equal(browser.received.length, 20)
  })
})
