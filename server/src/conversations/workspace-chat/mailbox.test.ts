import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgentPrincipals } from '../../agents/access/index.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { type Loose, openWorkspaceWorld, type WorkspaceWorld } from './test/world.ts'

const bob = 'bob@example.org'
const root = 'root@example.org'

/** For whom this run works, and what it may do in the agent. */
async function rightsOfRun(world: WorkspaceWorld, id: string) {
  const { principal, source_user_id } = await world.runs.row(id)
  const principals = createAgentPrincipals({
    agentRecords: world.area.agentRecords,
    users: world.identity.users,
    isConnectorOn: async () => false,
    keys: { callerOf: async () => null },
  })
  const agent = (await world.area.agentRecords.byName('scout')) ?? assert.fail('no agent')
  return { by: source_user_id, ...(await principals.resolve(agent, principal ?? '')) }
}

const read = (email: string) => ({ id: `email:${email}`, access: 'read', credentials: false })

const contents = async (world: WorkspaceWorld, token: string) =>
  (await world.history(token)).messages.map(({ content }: Loose) => content)

async function shareForReading(world: WorkspaceWorld, email: string) {
  await world.share(email)
  await world.setAccess(email, 'read')
}

forEachDialect((_name, open) => {
  test('an unproved address of an admin gives the owner of the mailbox only the share', async () => {
    await using world = await openWorkspaceWorld(open)
    const admin = await world.person('admin', root)
    await world.identity.users.setEmail(admin.id, bob)
    await shareForReading(world, bob)
    const adminToken = await world.session(admin.id)
    await world.turn(adminToken, { message: 'a plan of the admin' })
    const token = await world.signIn(bob)
    assert.deepEqual(await contents(world, token), [])
    const { json } = await world.turn(token, { message: 'hi' })
    assert.deepEqual(await rightsOfRun(world, json.execution_id), { by: `email:${bob}`, ...read(bob) })
    assert.deepEqual(await contents(world, token), ['hi', 'hello'])
    assert.deepEqual(await contents(world, adminToken), ['a plan of the admin', 'hello'])
    const path = `/agents/scout/sessions/${json.session_id}`
    assert.equal((await world.request(adminToken, 'PATCH', path, { title: 'x' })).status, 404)

    const { json: clients } = await world.request(adminToken, 'GET', '/agents/scout/clients')
    assert.deepEqual(
      clients.map(({ email, message_count }: Loose) => [email, message_count]),
      [[bob, 4]],
    )
  })

  test('an address that an admin has listed belongs to the account; runs of a mailed code have the rights of the share', async () => {
    await using world = await openWorkspaceWorld(open)
    const admin = await world.person('admin', root)
    await world.identity.users.setEmail(admin.id, bob)
    await world.identity.allowList.add({ email: bob, default_role: 'user', added_by: root })
    await shareForReading(world, bob)
    const adminToken = await world.session(admin.id)
    const own = await world.turn(adminToken, { message: 'as admin' })
    assert.deepEqual(await rightsOfRun(world, own.json.execution_id), {
      ...{ by: admin.id, id: `user:${admin.id}` },
      ...{ access: 'owner', credentials: true },
    })
    const token = await world.signIn(bob)
    const { json } = await world.turn(token, { message: 'by code' })
    assert.deepEqual(await rightsOfRun(world, json.execution_id), { by: admin.id, ...read(bob) })
    assert.deepEqual(await contents(world, adminToken), ['as admin', 'hello', 'by code', 'hello'])
    assert.deepEqual(await contents(world, token), await contents(world, adminToken))
  })

  test('a mailed code gives an admin with a proved address only the share', async () => {
    await using world = await openWorkspaceWorld(open)
    const admin = await world.person('admin', root)
    await shareForReading(world, root)
    const { json } = await world.turn(await world.signIn(root), { message: 'hi' })
    assert.deepEqual(await rightsOfRun(world, json.execution_id), { by: admin.id, ...read(root) })
  })

  for (const isProved of [true, false])
    test(`the suspension of an admin ends mailed codes for the ${isProved ? 'proved' : 'unproved'} address, and their runs`, async () => {
      await using world = await openWorkspaceWorld(open)
      const admin = await world.person('admin', isProved ? bob : root)
      if (!isProved) await world.identity.users.setEmail(admin.id, bob)
      await shareForReading(world, bob)
      const token = await world.signIn(bob)
      const { json } = await world.turn(token, { message: 'hi' })
      await world.identity.changeUser(admin.id, { suspended_at: '2030-01-01T00:00:00.000Z' })
      assert.equal((await world.request(token, 'GET', '/my-agents')).status, 401)
      const sentCount = world.mail.sent.length
      assert.equal((await world.request('', 'POST', '/auth/request', { email: bob })).status, 200)
      await world.workspace.signIn.settled()
      assert.equal(world.mail.sent.length, sentCount)
      assert.partialDeepStrictEqual(await rightsOfRun(world, json.execution_id), {
        ended: 'The run was not started: the account is suspended.',
      })
      await world.identity.changeUser(admin.id, { suspended_at: null })
      assert.partialDeepStrictEqual(await rightsOfRun(world, json.execution_id), read(bob))
    })

  test('runs of an ordinary person work for the account with both sign-ins', async () => {
    await using world = await openWorkspaceWorld(open)
    const person = await world.person('user', bob)
    await world.share(bob)
    const rows: ExecutionRow[] = []
    for (const token of [await world.signIn(bob), await world.session(person.id)]) {
      const { json } = await world.turn(token, { message: 'hi' })
      rows.push(await world.runs.row(json.execution_id))
    }
    assert.deepEqual(
      rows.map(({ principal }) => principal),
      [`user:${person.id}`, `user:${person.id}`],
    )
  })
})
