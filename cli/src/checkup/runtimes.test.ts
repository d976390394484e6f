import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { checkRuntimes } from './runtimes.ts'

test('doctor lists the runtimes with the default, and finds one that the engine does not list', async (t) => {
  const info = '{"Runtimes":{"runsc":{},"runc":{}},"DefaultRuntime":"runc"}'
  const server = createServer((_, response) => response.end(info))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  const env = { ROOST_CONTAINERS_URL: `docker:tcp://127.0.0.1:${address.port}` }
  const found = (runtime: string) => checkRuntimes({ ...env, ROOST_CONTAINER_RUNTIME: runtime })
  assert.deepEqual(await found(''), {
    state: 'ok',
    about: 'OCI runtimes',
    message: 'runc (default), runsc',
  })
  assert.match((await found('runsc')).message, /agents use runsc$/)
  const wrong = await found('kata')
  assert.deepEqual([wrong.state, /kata, but the engine lists runc/.test(wrong.message)], ['fail', true])
})

test('a sandbox has none, and refuses the variable', async () => {
  const env = { ROOST_CONTAINERS_URL: 'sandbox:' }
  assert.equal((await checkRuntimes(env)).state, 'ok')
  assert.equal((await checkRuntimes({ ...env, ROOST_CONTAINER_RUNTIME: 'runc' })).state, 'fail')
})

test('an engine that does not answer is a warning', async () => {
  const env = { ROOST_CONTAINERS_URL: 'docker:///run/roost-test-nowhere.sock' }
  assert.equal((await checkRuntimes(env)).state, 'warn')
})
