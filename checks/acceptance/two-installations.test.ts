/** Two installations on one container engine, both with the default names. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Platform, startPlatform } from './platform.ts'
import { answerOf, createAgent, docker } from './steps.ts'

const agent = 'qa-twin'
let platforms: Platform[]
before(async () => {
  platforms = await Promise.all([startPlatform(), startPlatform()])
})
after(async () => {
  for (const platform of platforms ?? []) {
    await platform.request('POST', '/api/agents/roost-system/stop')
    // Deleting an installation's agents leaves its system agent.
    for (const id of await containersOf(platform, 'roost-system')) await docker('rm', '-f', '-v', id)
    await platform[Symbol.asyncDispose]()
  }
})

/** Containers of an agent of this installation, by their labels. */
async function containersOf(platform: Platform, name: string): Promise<string[]> {
  const install = (await readFile(join(platform.dataDir, 'install-id'), 'utf8')).trim()
  const filters = [`label=roost.install=${install}`, `label=roost.agent-name=${name}`]
  const ids = await docker('ps', '-aq', ...filters.flatMap((filter) => ['--filter', filter]))
  return ids.split('\n').filter(Boolean)
}

test('both have an agent of the same name, and each answers for itself', async () => {
  for (const platform of platforms) await createAgent(platform, agent)
  const containers = await Promise.all(platforms.map((platform) => containersOf(platform, agent)))
  assert.deepEqual(
    containers.map((ids) => ids.length),
    [1, 1],
  )
  assert.notDeepEqual(containers[0], containers[1])
  for (const [index, platform] of platforms.entries())
    assert.equal(await answerOf(platform, agent, `[[reply:installation ${index}]]`), `installation ${index}`)
})

test('both start their system agent', async () => {
  for (const platform of platforms) {
    const started = await platform.request('POST', '/api/agents/roost-system/start')
    assert.equal(started.status, 200, started.text)
  }
  const running = await Promise.all(platforms.map((platform) => containersOf(platform, 'roost-system')))
  assert.deepEqual(
    running.map((ids) => ids.length),
    [1, 1],
  )
})

test('deleting the agent of one leaves the other', async () => {
  const [first, second] = platforms
  if (!first || !second) throw new Error('Two platforms were started.')
  assert.equal((await first.request('DELETE', `/api/agents/${agent}`)).status, 200)
  assert.deepEqual(await containersOf(first, agent), [])
  assert.equal(await answerOf(second, agent, '[[reply:still here]]'), 'still here')
})
