/** What people obtained through a share or a public link, used after its end. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { forEachDialect } from '../../server/src/test/dialects.ts'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { runsOf } from '../access/runs.ts'
import { openWorld, type World } from '../access/world.ts'

forEachDialect((_dialect, open) => {
  // An inner suite, because its platform must close before the database.
  describe('endings', () => {
    let world: World
    let owner: string
    const agentKeys = new Map<string, string>()
    before(async () => {
      const { url } = await open({ migrated: false })
      world = await openWorld({ env: { ROOST_DATABASE_URL: url } })
      owner = await world.person('owner@example.org', 'creator')
      const ownerId = await world.idOf(owner)
      for (const name of ['scout', 'helper']) {
        const id = await world.makeAgent(owner, name)
        await world.ok('POST', `/api/agents/${name}/start`, { token: owner })
        agentKeys.set(name, await world.plantKey('agent', ownerId, id))
      }
      await world.ok('POST', '/api/agents/scout/permissions/helper', { token: owner })
    })
    after(() => world?.[Symbol.asyncDispose]())

    const as = (token: string) => ({
      ask: (method: string, path: string, body?: object) =>
        world.ask(method, `/api/agents/scout${path}`, { token, ...(body ? { body } : {}) }),
      ok: (method: string, path: string, body?: object): Promise<Loose> =>
        world.ok(method, `/api/agents/scout${path}`, { token, ...(body ? { body } : {}) }),
    })
    const claim = (tokens: readonly string[]) =>
      runsOf(world, { agent: 'scout', agentKey: agentKeys.get('scout') ?? '', tokens })
    const executionOf = (agent: string, id: string): Promise<Loose> =>
      world.ok('GET', `/api/agents/${agent}/executions/${id}`, { token: owner })
    const broker = async (token: string) =>
      (
        await fetch(`${world.internalUrl}/broker/anthropic/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': token, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'claude-x', messages: [] }),
        })
      ).status

    async function assertEnded(agent: string, id: string, reason: RegExp): Promise<void> {
      const { status, error, error_code } = await executionOf(agent, id)
      assert.deepEqual([status, error_code], ['cancelled', 'access_ended'])
      assert.match(error, reason)
    }

    test('the end of a share ends what the person started and set up', async () => {
      const email = 'ann@example.org'
      const ann = await world.person(email, 'user')
      await as(owner).ok('POST', '/share', { email })
      const schedule = { name: 'plant', message: 'x', cron_expression: '0 3 * * *' }
      const { id: scheduleId } = await as(ann).ok('POST', '/schedules', schedule)
      const reminder = { message: 'x', delay_seconds: 7200 }
      // Only owners and admins set reminders; she was one.
      await world.setRole(email, 'admin')
      const { id: reminderId } = await as(ann).ok('POST', '/reminders', reminder)
      await world.setRole(email, 'user')
      const { loop_id } = await as(ann).ok('POST', '/loops', { message: 'go on', max_runs: 5 })
      const { loop_id: ownLoop } = await as(owner).ok('POST', '/loops', { message: 'go on', max_runs: 5 })
      const { keys, ids, brokerTokens } = await claim([ann])
      const [key = ''] = keys
      const queued = await as(ann).ok('POST', '/task', { message: 'later', async_mode: true })
      const nested = await world.ok('POST', '/api/agents/helper/task', {
        token: key,
        body: { message: 'on behalf', async_mode: true },
      })
      const own = await as(owner).ok('POST', '/task', { message: 'mine', async_mode: true })
      assert.equal((await as(key).ask('GET', '')).status, 200)

      await as(owner).ok('DELETE', `/share/${email}`)

      const reason = /no longer shared with ann@example\.org/
      assert.equal((await as(ann).ask('GET', '')).status, 404)
      for (const [agent, id] of [
        ['scout', ids[0]],
        ['scout', queued.execution_id],
        ['helper', nested.execution_id],
      ] as const)
        await assertEnded(agent, id ?? '', reason)
      const refused = await as(key).ask('GET', '')
      assert.deepEqual([refused.status, refused.error], [401, 'run_key_ended'])
      assert.equal(await broker(brokerTokens[0] ?? ''), 403)
      const { enabled, disabled_reason } = await as(owner).ok('GET', `/schedules/${scheduleId}`)
      assert.equal(enabled, false)
      assert.match(disabled_reason, reason)
      const reminders: Loose[] = await as(owner).ok('GET', '/reminders?status=cancelled')
      const cancelled = reminders.find(({ id }) => id === reminderId)
      assert.equal(cancelled.status, 'cancelled')
      assert.match(cancelled.error, reason)
      const loopOf = (id: string): Promise<Loose> => world.ok('GET', `/api/loops/${id}`, { token: owner })
      const loop = await eventually(
        () => loopOf(loop_id),
        ({ completed_at }) => completed_at !== null,
      )
      assert.match(loop.error, reason)

      assert.equal((await executionOf('scout', own.execution_id)).status, 'queued')
      assert.equal((await loopOf(ownLoop)).completed_at, null)
    })

    test('a person who shares the agent again gets nothing back', async () => {
      const email = 'bob@example.org'
      const bob = await world.person(email, 'user')
      await as(owner).ok('POST', '/share', { email })
      const { keys } = await claim([bob])
      await as(owner).ok('DELETE', `/share/${email}`)
      await as(owner).ok('POST', '/share', { email })
      assert.equal((await as(bob).ask('GET', '')).status, 200)
      assert.equal((await as(keys[0] ?? '').ask('GET', '')).error, 'run_key_ended')
    })

    for (const [how, end] of [
      ['disabled', (id: string) => as(owner).ok('PUT', `/public-links/${id}`, { enabled: false })],
      ['deleted', (id: string) => as(owner).ok('DELETE', `/public-links/${id}`)],
      [
        'restricted to verified addresses',
        (id: string) => as(owner).ok('PUT', `/public-links/${id}`, { require_email: true }),
      ],
      [
        'expired',
        async () => {
          await world.clock.advance(3600)
          await world.runLoop('public-chat.expired')
        },
      ],
    ] as const)
      test(`a public link that is ${how} ends the runs of its visitors`, async () => {
        const expires_at = new Date(world.clock.now().getTime() + 1_800_000).toISOString()
        const link = await as(owner).ok('POST', '/public-links', { name: how, expires_at })
        const reply = fetch(`${world.url}/api/public/chat/${link.token}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ message: 'hello' }),
        })
        await eventually(
          () => as(owner).ok('GET', '/executions?status=queued&triggered_by=public'),
          (rows) => rows.length === 1,
        )
        const { keys, ids } = await claim([])
        const id = ids.at(-1) ?? assert.fail('no run')
        const key = keys.at(-1) ?? assert.fail('no key')
        assert.equal((await as(key).ask('GET', '')).status, 200)
        assert.equal((await as(key).ask('GET', '/executions')).error, 'principal_not_allowed')

        await end(link.id)

        await assertEnded('scout', id, /public link/)
        assert.equal((await as(key).ask('GET', '')).error, 'run_key_ended')
        // The open stream ends too.
        await (await reply).text()
      })
  })
})
