import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { run } from '../machine/run.ts'
import { ReleaseError } from './error.ts'
import { chartValues, pushImages } from './push-images.ts'

const hasEngine = process.env.ROOST_TEST_CONTAINERS_URL?.startsWith('docker:') === true
const hasRegistry = spawnSync('which', ['docker-registry']).status === 0
const skip = hasEngine && hasRegistry ? false : 'needs Docker and the package docker-registry'
const local = `roost-push-test:${process.pid}`
let folder: string
let registry: ChildProcess | null = null
let host = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-push-test-'))
  if (skip) return
  await writeFile(join(folder, 'file'), 'content')
  await writeFile(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY file /file\n')
  assert.equal((await run('docker', ['build', '-t', local, folder])).code, 0)
  host = `127.0.0.1:${await freePort()}`
  const config = [
    'version: 0.1',
    `storage: { filesystem: { rootdirectory: ${join(folder, 'registry')} } }`,
    `http: { addr: "${host}" }`,
  ]
  await writeFile(join(folder, 'config.yml'), config.join('\n'))
  registry = spawn('docker-registry', ['serve', join(folder, 'config.yml')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const listening = Promise.withResolvers<void>()
  registry.once('exit', () => listening.reject(new Error('docker-registry ended')))
  // Read to the end, because a closed pipe would end it.
  registry.stderr?.on('data', (text) => String(text).includes('listening on') && listening.resolve())
  await listening.promise
})
after(async () => {
  if (registry?.exitCode === null) {
    registry.kill()
    await once(registry, 'exit')
  }
  if (!skip) await run('docker', ['rmi', '-f', local])
  await rm(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  await once(server.close(), 'close')
  return typeof address === 'object' && address !== null ? address.port : assert.fail('no port')
}

test('an image is in the registry under its digest, and its other name is gone here', { skip }, async () => {
  const remote = `${host}/team/roost-platform:1.2.3`
  const digest = (await pushImages([{ local, remote }])).get(remote)
  assert.match(digest ?? '', /^sha256:[0-9a-f]{64}$/)
  const reply = await fetch(`http://${host}/v2/team/roost-platform/manifests/${digest}`, {
    headers: { accept: 'application/vnd.docker.distribution.manifest.v2+json' },
  })
  assert.equal(reply.status, 200)
  assert.equal((await run('docker', ['image', 'inspect', remote])).code, 1)
  assert.equal((await run('docker', ['image', 'inspect', local])).code, 0)
})

test('an image that is missing here, and a registry that refuses, are reported in the engine’s words', {
  skip,
}, async () => {
  const missing = pushImages([{ local: 'roost-push-test:absent', remote: `${host}/x:1` }])
  await assert.rejects(missing, (error) => error instanceof ReleaseError && /absent/.test(error.message))
  const refused = pushImages([{ local, remote: '127.0.0.1:1/x:1' }])
  await assert.rejects(
    refused,
    (error) => error instanceof ReleaseError && /push 127\.0\.0\.1:1/.test(error.message),
  )
  assert.equal((await run('docker', ['image', 'inspect', '127.0.0.1:1/x:1'])).code, 1)
})

test('the values name each image by its digest', () => {
  const digest = (digit: string) => `sha256:${digit.repeat(64)}`
  const runtimes = new Map([
    ['claude-code', digest('1')],
    ['codex', digest('2')],
  ])
  const images = { runtimes, platform: digest('3'), backup: digest('4') }
  assert.equal(
    chartValues('reg.example.com/roost', images),
    `registry: reg.example.com/roost
images:
  platform: { digest: "${digest('3')}" }
  backup: { digest: "${digest('4')}" }
  agent: claude-code=reg.example.com/roost/roost-agent@${digest('1')},codex=reg.example.com/roost/roost-agent@${digest('2')}
`,
  )
})
