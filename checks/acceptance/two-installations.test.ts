/** Two installations on one container engine, both with the default names. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
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

test('a process with the key or the id of another installation refuses to work with this one’s database', async (t) => {
  await using own = await startPlatform({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
  const folder = await mkdtemp(join(tmpdir(), 'roost-foreign-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const copy = async (...files: string[]) => {
    const dataDir = await mkdtemp(join(folder, 'data-'))
    for (const file of files) await copyFile(join(own.dataDir, file), join(dataDir, file))
    return {
      ...own.env,
      ROOST_DATABASE_URL: `sqlite:${join(own.dataDir, 'roost.db')}`,
      ROOST_DATA_DIR: dataDir,
    }
  }
  await own.stopApi()
  const start = async (env: Record<string, string>) => {
    const child = spawn(process.execPath, ['server/src/start/api.ts'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
    return { code, errors }
  }
  const diagnose = async (env: Record<string, string>) => {
    const child = spawn(process.execPath, ['cli/src/main.ts', 'doctor'], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return text(child.stdout)
  }
  assert.match(await diagnose({ ...own.env }), /the encryption key and the id are those of the database/)
  const env = await copy()
  const foreign = await start(env)
  assert.match(await diagnose(env), /encryption\.key is not the key of this database/)
  assert.deepEqual(
    [foreign.code, /not the key of this database/.test(foreign.errors)],
    [78, true],
    foreign.errors,
  )
  const renamed = await start(await copy('encryption.key'))
  assert.equal(renamed.code, 78)
  assert.match(
    renamed.errors,
    /the database belongs to the installation .*Copy encryption\.key and install-id/,
  )
  await own.startApi()
  assert.equal((await own.request('GET', '/health')).status, 200)
})
