import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { type CanvasWorld, markdown, openCanvasWorld, path } from './test/world.ts'

const hello = { title: 'State', blocks: [markdown('# Hello')] }

async function openShared(open: Parameters<typeof openCanvasWorld>[0]) {
  const world = await openCanvasWorld(open)
  const { id: execution_id } = await world.run(world.agentId)
  await world.put('main', { ...hello, execution_id })
  return world
}
const statusAndError = ({ status, json }: Awaited<ReturnType<CanvasWorld['view']>>) => [status, json.error]

forEachDialect((_name, open) => {
  test('a public link shows the canvas without its run; views count once a minute', async () => {
    await using world = await openShared(open)
    const share = await world.share('main', { scope: 'public' })
    const { id, token, created_at, ...rest } = share
    assert.match(token, /^[A-Za-z0-9_-]{43}$/)
    assert.deepEqual(rest, {
      agent_name: 'scout',
      canvas_id: 'main',
      scope: 'public',
      url: `https://roost.example/canvas/s/${token}`,
      expires_at: null,
      revoked_at: null,
      last_viewed_at: null,
      view_count: 0,
    })
    const { updated_by_execution_id: _, ...canvas } = await world.get('/main')
    const views = await Promise.all(Array.from({ length: 20 }, () => world.view(token)))
    for (const { status, json, headers } of views) {
      assert.deepEqual([status, json], [200, canvas])
      assert.equal(headers['cache-control'], 'private, no-store')
    }
    await world.clock.advance(61)
    await world.view(token)
    const [counted] = await world.get('/shares')
    assert.deepEqual([counted.id, counted.token, counted.view_count], [id, token, 2])
    assert.ok(counted.last_viewed_at > created_at)
  })

  test('the database stores no readable token', async () => {
    await using world = await openShared(open)
    const { token } = await world.share('main')
    const rows = await world.db
      .withTables<{ canvas_shares: Record<string, unknown> & { id: string } }>()
      .selectFrom('canvas_shares')
      .selectAll()
      .execute()
    assert.equal(rows.length, 1)
    assert.ok(!JSON.stringify(rows).includes(token))
  })

  test('404 for unknown, expired, revoked and deleted links, and for links of other agents', async () => {
    await using world = await openShared(open)
    const { owner, request, clock } = world
    const inOneMinute = new Date(clock.now().getTime() + 60_000).toISOString()
    const expiring = await world.share('main', { scope: 'public', expires_at: inOneMinute })
    const revoked = await world.share('main', { scope: 'public' })
    const openShare = await world.share('main', { scope: 'public' })
    assert.equal((await world.view(expiring.token)).status, 200)
    await clock.advance(60)
    const end = () => request(owner.key, 'DELETE', `${path}/shares/${revoked.id}`)
    assert.deepEqual((await end()).json, { share_id: revoked.id, revoked: true })
    const first = (await world.get('/shares')).find(({ id }: { id: string }) => id === revoked.id).revoked_at
    await clock.advance(1)
    assert.equal((await end()).status, 200)
    const listed = await world.get('/shares?canvas_id=main')
    assert.equal(listed.find(({ id }: { id: string }) => id === revoked.id).revoked_at, first)
    assert.equal(listed.length, 3)
    assert.deepEqual(await world.get('/shares?canvas_id=other'), [])
    for (const token of [expiring.token, revoked.token, 'none', `${openShare.token}x`]) {
      assert.deepEqual(statusAndError(await world.view(token)), [404, 'canvas_not_found'])
    }
    await request(owner.key, 'POST', '/api/agents', { name: 'other' })
    const foreign = await request(owner.key, 'DELETE', `/api/agents/other/canvas/shares/${openShare.id}`)
    assert.equal(foreign.json.error, 'link_not_found')
    assert.equal((await world.view(openShare.token)).status, 200)
    await request(world.key, 'DELETE', `${path}/main`)
    await world.put('main', hello)
    assert.deepEqual(
      statusAndError(await world.view(openShare.token)),
      [404, 'canvas_not_found'],
      'a new canvas, no old link',
    )
    assert.deepEqual(await world.get('/shares'), [])
  })

  test('an authorized link requires a signed-in person, whose access is checked each time', async () => {
    await using world = await openShared(open)
    const { owner, request } = world
    const { token, scope } = await world.share('main')
    assert.equal(scope, 'authorized')
    const signIn = [401, 'sign_in_required']
    for (const as of [undefined, 'nonsense', 'x'.repeat(43), owner.key, world.key]) {
      assert.deepEqual(statusAndError(await world.view(token, as)), signIn, as)
    }
    const session = await world.session(owner.id)
    assert.equal((await world.view(token, session)).status, 200)
    const stranger = await world.person('creator', 'eve@example.org')
    const recheck = [401, 'access_recheck_failed']
    assert.deepEqual(statusAndError(await world.view(token, await world.session(stranger.id))), recheck)
    const root = await world.person('admin', 'root@example.org')
    assert.equal((await world.view(token, await world.session(root.id))).status, 200)

    await world.shareAgent('sam@example.org')
    const guest = await world.signIn('sam@example.org')
    assert.equal((await world.view(token, guest)).status, 200)
    await world.unshare('sam@example.org')
    assert.deepEqual(statusAndError(await world.view(token, guest)), recheck)
    assert.equal((await request(owner.key, 'GET', `${path}/shares`)).status, 200)
  })

  test('422 for an expiry in the past, 404 for an unknown canvas, 429 above sixty views per minute', async () => {
    await using world = await openShared(open)
    const { owner, request } = world
    const past = await request(owner.key, 'POST', `${path}/main/share`, {
      expires_at: '2020-01-01T00:00:00Z',
    })
    assert.deepEqual([past.status, past.json.detail[0].loc], [422, ['body', 'expires_at']])
    const unknown = await request(owner.key, 'POST', `${path}/none/share`, {})
    assert.equal(unknown.json.error, 'canvas_not_found')
    const { token } = await world.share('main', { scope: 'public' })
    const replies = await Promise.all(Array.from({ length: 61 }, () => world.view(token)))
    assert.equal(replies.filter(({ status }) => status === 429).length, 1)
    const from = (at: number) => world.view(token, '', { 'x-forwarded-for': `2001:db8::${at}` })
    const sameNetwork = await Promise.all(Array.from({ length: 61 }, (_, at) => from(at)))
    assert.equal(sameNetwork.filter(({ status }) => status === 429).length, 1)
    const [counted] = await world.get('/shares')
    assert.equal(counted.view_count, 2, 'one view for each network')
  })
})
