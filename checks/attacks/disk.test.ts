/** An agent that fills the disk of the host: it is noticed, and stopped at its quota. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { docker, execution, isOver } from '../acceptance/steps.ts'
import { openScene, type Scene, succeed } from './people.ts'

const agent = 'att-disk'
const quota = 50_000_000
let scene: Scene
before(async () => {
  scene = await openScene(agent, { env: { ROOST_DISK_SECONDS: '5' } })
  await succeed(scene.call(scene.owner, 'PUT', '/disk', { quota_bytes: quota }))
})
after(() => scene?.[Symbol.asyncDispose]())

const inside = (script: string) =>
  docker('exec', '-u', 'developer', '-w', '/home/developer', `agent-${agent}`, 'sh', '-c', script)
const asRoot = (script: string) =>
  docker('exec', '-u', 'root', '-w', '/home/developer', `agent-${agent}`, 'sh', '-c', script)
const disk = () => succeed(scene.call(scene.owner, 'GET', '/disk'))
const untilState = (state: string) => eventually(disk, (view) => view.state === state)
const upload = (name: string) => scene.call(scene.owner, 'PUT', `/files?path=${name}`, { content: 'x' })
const alerts = async (): Promise<Loose[]> => {
  const path = `/api/operator-queue?agent_name=${agent}&status=pending`
  const { items } = await succeed(scene.platform.request('GET', path))
  return items.filter(({ kind }: Loose) => kind === 'disk_quota')
}

test('nobody but an admin raises the quota', async () => {
  for (const attacker of [scene.self, scene.sharer, scene.caller]) {
    const { status } = await scene.call(attacker, 'PUT', '/disk', { quota_bytes: 0 })
    assert.ok([403, 404].includes(status), `${attacker.name}: ${status}`)
  }
  assert.equal((await disk()).quota_bytes, quota)
})

test('a workspace close to its quota raises an alert', async () => {
  await inside('mkdir -p .cache/hidden && head -c 42000000 /dev/urandom > .cache/hidden/hoard')
  const { used_bytes } = await untilState('low')
  assert.ok(used_bytes >= 42_000_000 && used_bytes < quota, String(used_bytes))
  assert.deepEqual(
    (await alerts()).map(({ priority }) => priority),
    ['medium'],
  )
  assert.equal((await upload('still.txt')).status, 200)
})

test('beyond the quota uploads are refused and a run waits, and deleting starts it', async () => {
  await inside('head -c 30000000 /dev/urandom > hoard')
  await untilState('full')
  const [alert, ...others] = await alerts()
  assert.deepEqual([alert?.priority, others], ['high', []])

  const attachment = { name: 'a.txt', mimetype: 'text/plain', data_base64: 'eA==' }
  const refused = [
    await upload('more.txt'),
    await scene.call(scene.owner, 'POST', '/files/mkdir', { path: 'more' }),
    await scene.call(scene.owner, 'POST', '/credentials/inject', { files: { '.env': 'A=1' } }),
    await scene.call(scene.owner, 'POST', '/task', { message: 'read it', files: [attachment] }),
  ]
  for (const { status, json, text } of refused) {
    assert.deepEqual([status, json?.error], [409, 'disk_quota_reached'], text)
  }

  // A turn has the agent's key, and could claim that nothing is used.
  await scene.call(scene.self, 'POST', '/heartbeat', { disk_bytes: 0 })
  const task = { message: 'hello [[reply:there is room]]', async_mode: true }
  const { execution_id } = await succeed(scene.call(scene.owner, 'POST', '/task', task))
  assert.equal((await disk()).state, 'full')
  const run = () => execution(scene.platform, agent, execution_id)
  assert.equal((await run()).status, 'queued')

  await succeed(scene.call(scene.owner, 'DELETE', '/files?path=hoard'))
  await inside('rm -r .cache/hidden')
  const ended = await eventually(run, isOver)
  assert.equal(ended.status, 'success', JSON.stringify(ended))
  assert.equal((await disk()).state, 'ok')
  assert.deepEqual(await alerts(), [])
  assert.equal((await upload('again.txt')).status, 200)
})

test("files outside the workspace count: the container's writable layer", async () => {
  await asRoot('head -c 60000000 /dev/urandom > /var/hoard')
  const { container_bytes } = await untilState('full')
  assert.ok(container_bytes >= 60_000_000, String(container_bytes))
  await asRoot('rm /var/hoard')
  await untilState('ok')
})

test('files that the agent program cannot read count: the engine measures too', async () => {
  await inside('mkdir hidden && chmod 777 hidden')
  await asRoot('umask 077; mkdir hidden/deep; head -c 60000000 /dev/urandom > hidden/deep/hoard')
  assert.match(await inside('ls hidden/deep'), /Permission denied/)
  const { workspace_bytes } = await untilState('full')
  assert.ok(workspace_bytes >= 60_000_000, String(workspace_bytes))
  await asRoot('rm -r hidden/deep')
  await untilState('ok')
})
