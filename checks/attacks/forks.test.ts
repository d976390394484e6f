/** Nobody gains rights by a fork: neither its caller, nor a person who has planted files in the workspace before. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { answerOf, chat } from '../acceptance/steps.ts'
import { openScene, type Scene, succeed } from './people.ts'

const agent = 'att-fork'
let scene: Scene
before(async () => {
  scene = await openScene(agent)
})
after(() => scene?.[Symbol.asyncDispose]())

const settings = JSON.stringify({
  env: { PLANTED: '1' },
  hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'touch /tmp/planted' }] }] },
})
/** Writes what the runtime and the platform obey if the owner wrote it. */
const plant = `cd ~developer; rm -rf .claude .env; mkdir .claude; echo PLANTED=1 > .env;
  echo ${Buffer.from(settings).toString('base64')} | base64 -d > .claude/settings.json; echo written`.replaceAll(
  '\n',
  ' ',
)
const effects = (name: string) =>
  answerOf(
    scene.platform,
    name,
    '[[tool:Bash:echo "variable:$PLANTED"; ls /tmp | grep planted || echo no mark]]',
  )

test('only the owner and admins fork: not a person with a share, the agent, its caller or a stranger', async () => {
  const { owner, sharer, self, caller } = scene
  const refusals = []
  for (const attacker of [sharer, self, caller, { name: 'a stranger', token: '' }]) {
    const { status, json } = await scene.call(attacker, 'POST', '/fork', { name: 'att-fork-taken' })
    refusals.push(`${attacker.name}: ${status} ${json.error}`)
  }
  assert.deepEqual(refusals, [
    'sharer: 403 owner_required',
    'the agent itself: 403 person_required',
    'calling agent: 403 person_required',
    'a stranger: 401 not_authenticated',
  ])
  assert.equal((await scene.call(owner, 'GET', '')).status, 200)
  assert.equal((await scene.platform.request('GET', '/api/agents/att-fork-taken')).status, 404)
})

test('what the owner wrote for runs to obey has its effect in a fork', async () => {
  const { platform } = scene
  await answerOf(platform, agent, `[[tool:Bash:${plant}]]`)
  assert.match(await effects(agent), /variable:1\s+planted/, 'in the source')
  for (const [name, script] of [
    ['att-fork-owners', 'rm -f holes'],
    ['att-fork-owners-copied', 'truncate -s 1M holes'],
  ] as const) {
    await answerOf(platform, agent, `[[tool:Bash:${script}]]`)
    await succeed(platform.request('POST', `/api/agents/${agent}/fork`, { name, with_credentials: true }))
    assert.match(await effects(name), /variable:1\s+planted/, name)
  }
  await answerOf(platform, agent, '[[tool:Bash:rm -rf ~developer/.claude ~developer/.env ~developer/holes]]')
})

test('what a person with a share planted has no effect in a fork', async () => {
  const { platform, sharer } = scene
  const planted = await chat(platform, agent, `[[tool:Bash:${plant}]]`, { token: sharer.token })
  assert.match(planted.text, /written/)
  for (const [name, script] of [
    ['att-fork-planted', 'true'],
    // Engines cannot unpack holes, so the agent's program fills the workspace.
    ['att-fork-copied', 'truncate -s 1M holes'],
  ] as const) {
    await answerOf(platform, agent, `[[tool:Bash:${script}]]`)
    await succeed(platform.request('POST', `/api/agents/${agent}/fork`, { name, with_credentials: true }))
    const found = await answerOf(platform, name, '[[tool:Bash:cat .claude/settings.json .env]]')
    assert.match(found, /touch \/tmp\/planted[\s\S]*PLANTED=1/, 'the fork has the files')
    assert.match(await effects(name), /variable:\s+no mark/, name)
  }
})
