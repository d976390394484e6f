import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createAccessRevocation } from '../../http/access-revocation.ts'
import { anonymous, isTouched, openIdentityChanges } from '../../identity/access/index.ts'
import { isFault } from '../../kit/fault.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { createReplies } from './replies.ts'
import { openWorkspaceWorld, type WorkspaceWorld } from './test/world.ts'

const sam = 'sam@example.org'

/** Another API process. Its replies wait until the person loses access. */
async function openOtherProcess(world: WorkspaceWorld) {
  const { principals, roster } = world.workspace
  const accessRevocation = createAccessRevocation()
  const { ephemeral } = world.identity
  const changes = await openIdentityChanges({ ephemeral, onLost: () => assert.fail('a message was lost') })
  changes.on((change) => accessRevocation.recheckCallers((caller) => isTouched(caller, change)))
  const replies = createReplies({ accessRevocation, principals, roster })
  return {
    /** Resolves when the reply has begun; `ended` throws at its end. */
    async reply(token: string): Promise<{ ended: Promise<unknown> }> {
      const principal = await principals.of(anonymous, `Bearer ${token}`)
      return { ended: replies.wait({ principal, ...contextOf(world) }, untilAborted) }
    },
    [Symbol.asyncDispose]: () => changes.close(),
  }
}

const contextOf = ({ agentId }: WorkspaceWorld) => ({
  agent: { id: agentId, name: 'scout' },
  signal: new AbortController().signal,
})

async function untilAborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

const isRefusal = (error: unknown) => isFault(error, 'agent_not_found')

forEachDialect((_name, open) => {
  for (const [action, hasAccount] of [
    ['logout', false],
    ['logout', true],
    ['block', false],
    ['block', true],
  ] as const)
    test(`${action} stops replies of other processes, ${hasAccount ? 'with' : 'without'} an account`, async () => {
      await using world = await openWorkspaceWorld(open)
      if (hasAccount) await world.person('user', sam)
      await world.share(sam)
      const token = await world.signIn(sam)
      await using other = await openOtherProcess(world)
      const refused = assert.rejects((await other.reply(token)).ended, isRefusal)
      const admin = await world.session((await world.person('admin', 'root@example.org')).id)
      const done = await world.request(admin, 'POST', `/agents/scout/clients/${sam}/${action}`)
      assert.equal(done.status, 200)
      await refused
    })

  test('a sign-out for one agent ends the replies of all agents', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const { status } = await world.platformRequest(world.owner.key, 'POST', '/api/agents', { name: 'rover' })
    assert.equal(status, 200)
    await world.platformRequest(world.owner.key, 'POST', '/api/agents/rover/share', { email: sam })
    const token = await world.signIn(sam)
    const stream = world.request(token, 'POST', '/agents/scout/chat/stream', { message: 'long' })
    await world.waiting()
    await world.claim()
    const owner = await world.session(world.owner.id)
    assert.equal((await world.request(owner, 'POST', `/agents/rover/clients/${sam}/logout`)).status, 200)
    assert.doesNotMatch((await stream).bytes.toString(), /"done"/)
  })

  test('a sign-out by the person ends the replies of that session alone', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const [left, stayed] = [await world.signIn(sam), await world.signIn(sam)]
    await using other = await openOtherProcess(world)
    const [leaving, staying] = [await other.reply(left), await other.reply(stayed)]
    const ends: string[] = []
    for (const [name, { ended }] of Object.entries({ leaving, staying })) ended.catch(() => ends.push(name))
    assert.equal((await world.request(left, 'POST', '/auth/logout')).status, 200)
    await assert.rejects(leaving.ended, isRefusal)
    assert.equal((await world.request(stayed, 'GET', '/my-agents')).status, 200)
    assert.deepEqual(ends, ['leaving'])
    assert.equal((await world.request(stayed, 'POST', '/auth/logout')).status, 200)
    await assert.rejects(staying.ended, isRefusal)
  })

  test('a sign-out by the person ends a reply that began before the account existed', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    await using other = await openOtherProcess(world)
    const { ended } = await other.reply(token)
    await world.person('user', sam)
    const refused = assert.rejects(ended, isRefusal)
    assert.equal((await world.request(token, 'POST', '/auth/logout')).status, 200)
    await refused
  })

  test('access that is lost between the check and the reply ends the reply', async () => {
    await using world = await openWorkspaceWorld(open)
    await world.share(sam)
    const token = await world.signIn(sam)
    const principal = await world.workspace.principals.of(anonymous, `Bearer ${token}`)
    await world.unshare(sam)
    world.accessRevocation.recheck({ id: world.agentId, name: 'scout' })
    const reply = world.workspace.replies.wait({ principal, ...contextOf(world) }, untilAborted)
    await assert.rejects(reply, isRefusal)
  })
})
