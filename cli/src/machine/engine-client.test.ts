import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { askEngine, engineAddress, readRuntimes } from './engine-client.ts'

test('every form of a docker: URL gives an address', () => {
  const cases: [string, NodeJS.ProcessEnv, unknown][] = [
    ['docker:', {}, { socketPath: '/var/run/docker.sock' }],
    ['docker:', { DOCKER_HOST: 'unix:///run/user/1/docker.sock' }, { socketPath: '/run/user/1/docker.sock' }],
    ['docker:', { DOCKER_HOST: 'tcp://10.0.0.1:2375' }, { host: '10.0.0.1', port: 2375 }],
    ['docker:///run/podman.sock', { DOCKER_HOST: 'tcp://x:1' }, { socketPath: '/run/podman.sock' }],
    ['docker:tcp://[::1]:2375', {}, { host: '::1', port: 2375 }],
    ['docker:ssh://host', {}, null],
  ]
  for (const [url, env, address] of cases) assert.deepEqual(engineAddress(url, env), address, url)
})

test('a responding engine is reported with name and version, another one with the reason', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-engine-'))
  const socketPath = join(folder, 'engine.sock')
  assert.equal((await askEngine({ socketPath })).type, 'unresponsive')
  const server = createServer((_, response) =>
    response.end('{"Version":"4.3","Components":[{"Name":"Podman Engine"}]}'),
  )
  await new Promise<void>((done) => server.listen(socketPath, done))
  t.after(async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  assert.deepEqual(await askEngine({ socketPath }), { type: 'responding', name: 'Podman', version: '4.3' })
})

test('a server that does not answer with JSON is not an engine', async (t) => {
  const server = createServer((_, response) => response.end('hello'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  assert.equal((await askEngine({ host: '127.0.0.1', port: address.port })).type, 'unresponsive')
})

test('the runtimes of an engine are sorted; an engine without them has no default', async (t) => {
  let info = '{"Runtimes":{"runsc":{},"runc":{"path":"runc"}},"DefaultRuntime":"runc"}'
  const server = createServer((_, response) => response.end(info))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  const engine = { host: '127.0.0.1', port: address.port }
  assert.deepEqual(await readRuntimes(engine), { listed: ['runc', 'runsc'], default: 'runc' })
  info = '{}'
  assert.deepEqual(await readRuntimes(engine), { listed: [], default: null })
})
