/** Attacks on what a share permits, and on the name in which runs work. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { beginTurn, docker, isOver, isSpawned, untilExecution } from '../acceptance/steps.ts'
import { openScene, type Scene, succeed } from './people.ts'

const agent = 'att-access'
const email = 'sharer@example.com'
let scene: Scene
before(async () => {
  scene = await openScene(agent)
  await inside('echo "from the owner" > report.txt; mkdir -p drafts')
})
after(() => scene?.[Symbol.asyncDispose]())

const inside = (script: string) =>
  docker('exec', '-u', 'developer', '-w', '/home/developer', `agent-${agent}`, 'sh', '-c', script)
const files = () => inside('find . -path ./.roost -prune -o -type f -exec sha256sum {} + | sort')
const query = (path: string) => `path=${encodeURIComponent(path)}`

/** Shares the agent anew with the sharer. */
async function share(access: 'read' | 'write'): Promise<void> {
  await scene.call(scene.owner, 'DELETE', `/share/${email}`)
  await succeed(scene.call(scene.owner, 'POST', '/share', { email, access }))
}

async function principalOf(id: string): Promise<unknown> {
  return (await succeed(scene.call(scene.owner, 'GET', `/executions/${id}`))).principal
}

test('a sharer with read access changes no file through any endpoint', async () => {
  await share('read')
  const before = await files()
  const form = new FormData()
  form.append('file', new Blob(['planted']), 'planted.txt')
  const { platform, sharer } = scene
  const upload = await fetch(`${platform.url}/api/enterprise/client-portal/agents/${agent}/documents`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sharer.token}` },
    body: form,
  })
  const requests: [string, string, unknown?][] = [
    ['PUT', `/files?${query('report.txt')}`, { content: 'from the sharer' }],
    ['PUT', `/files?${query('planted.txt')}`, { content: 'planted' }],
    ['DELETE', `/files?${query('report.txt')}`],
    ['DELETE', `/files?${query('drafts')}`],
    ['POST', '/files/mkdir', { path: 'planted' }],
    ['POST', '/files/move', { from: 'report.txt', to: 'planted.txt' }],
    ['POST', '/git/pull', {}],
    ['POST', '/git/pull', { strategy: 'force_reset' }],
  ]
  const statuses = [upload.status]
  for (const [method, path, body] of requests) {
    statuses.push((await scene.call(sharer, method, path, body)).status)
  }
  assert.deepEqual(statuses, Array(9).fill(403))
  assert.equal(await files(), before)
  assert.equal((await scene.call(sharer, 'GET', `/files/download?${query('report.txt')}`)).status, 200)
})

test('a share that is narrowed narrows the next request, and the sharer cannot widen it', async () => {
  await share('write')
  const save = () => scene.call(scene.sharer, 'PUT', `/files?${query('note.txt')}`, { content: 'hello' })
  assert.equal((await save()).status, 200)
  await succeed(scene.call(scene.owner, 'PUT', `/share/${email}`, { access: 'read' }))
  assert.equal((await save()).status, 403)
  for (const [method, path, body] of [
    ['PUT', `/share/${email}`, { access: 'write' }],
    ['POST', '/share', { email, access: 'write' }],
    ['PUT', '/strangers', { access: 'write' }],
  ] as const) {
    assert.equal((await scene.call(scene.sharer, method, path, body)).status, 403, path)
  }
  assert.equal((await save()).status, 403)
})

test('a schedule works for the author of its message, not for the person who fires or enables it', async () => {
  await share('read')
  const { owner, sharer } = scene
  const draft = { name: 'nightly', cron_expression: '0 3 * * *', message: '[[reply:done]]', enabled: true }
  const fire = async (id: string) =>
    (await succeed(scene.call(owner, 'POST', `/schedules/${id}/trigger`))).execution_id
  const theirs = (await succeed(scene.call(sharer, 'POST', '/schedules', draft))).id
  assert.equal(await principalOf(await fire(theirs)), email)
  const own = (await succeed(scene.call(owner, 'POST', '/schedules', { ...draft, name: 'weekly' }))).id
  const ownPrincipal = await principalOf(await fire(own))
  assert.ok(ownPrincipal && ownPrincipal !== email)
  // An agent that rewrites the owner's schedule does not work as the owner.
  await succeed(scene.call(scene.self, 'PUT', `/schedules/${own}`, { message: '[[reply:changed]]' }))
  assert.equal(await principalOf(await fire(own)), 'the agent itself')
})

test('a call of another agent works in the name of that agent', async () => {
  const task = { message: '[[reply:called]]', async_mode: true }
  const run: Loose = await succeed(scene.call(scene.caller, 'POST', '/task', task))
  assert.equal(await principalOf(run.execution_id), `the agent ${agent}-caller`)
})

test('a run that waits when its share ends does not start', async () => {
  await share('write')
  await succeed(scene.call(scene.owner, 'PUT', '/capacity', { max_parallel_tasks: 1 }))
  const busy = await beginTurn(scene.platform, agent, '[[sleep:60]]')
  await untilExecution(scene.platform, agent, busy.id, isSpawned)
  const body = { message: '[[reply:planted]]', async_mode: true }
  const { execution_id } = await succeed(scene.call(scene.sharer, 'POST', '/task', body))
  await succeed(scene.call(scene.owner, 'DELETE', `/share/${email}`))
  await succeed(scene.call(scene.owner, 'POST', `/executions/${busy.id}/terminate`))
  await busy.ended
  const row: Loose = await eventually(
    () => succeed(scene.call(scene.owner, 'GET', `/executions/${execution_id}`)),
    isOver,
  )
  assert.equal(row.status, 'cancelled')
})
