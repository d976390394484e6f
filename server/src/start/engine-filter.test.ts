import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

let folder = ''
const engine = createServer((_, response) => void response.end('OK'))

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-engine-filter-'))
  engine.listen(join(folder, 'docker.sock'))
  await once(engine, 'listening')
})
after(async () => {
  engine.close()
  engine.closeAllConnections()
  await rm(folder, { recursive: true })
})

async function start(more: Record<string, string> = {}) {
  const socket = join(folder, 'filter/engine.sock')
  const env = {
    PATH: process.env.PATH,
    ROOST_ENGINE_SOCKET: join(folder, 'docker.sock'),
    ROOST_ENGINE_FILTER_SOCKET: socket,
    ...more,
  }
  const child = fork(join(import.meta.dirname, 'engine-filter.ts'), [], { env, execArgv: [], silent: true })
  const [message] = (await once(child, 'message')) as [{ type: string; reason?: string }]
  return {
    message,
    child,
    modeOf: async (path: string) => ((await stat(join(folder, 'filter', path))).mode & 0o777).toString(8),
    install: () => readFile(join(folder, 'filter/install-id'), 'utf8'),
    status: (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        request({ socketPath: socket, path, agent: false }, (reply) => resolve(reply.resume().statusCode))
          .on('error', reject)
          .end()
      }),
    async stop() {
      child.kill('SIGTERM')
      const [code] = await once(child, 'exit')
      return code
    },
  }
}

test('the filter keeps its installation’s id, serves allowed calls and stops cleanly', async () => {
  const first = await start()
  assert.equal(first.message.type, 'ready')
  const id = await first.install()
  assert.match(id, /^[A-Za-z0-9_-]{8,}$/)
  assert.deepEqual([await first.status('/_ping'), await first.status('/images/json')], [200, 403])
  assert.equal(await first.stop(), 0)
  const second = await start()
  assert.equal(await second.install(), id)
  assert.equal(await second.stop(), 0)
  const named = await start({ ROOST_INSTALL_ID: 'existing-installation' })
  assert.equal(await named.install(), 'existing-installation')
  assert.equal(await named.stop(), 0)
})

test('only the user and the group of the filter reach the engine through it', async () => {
  const filter = await start()
  assert.deepEqual(
    [await filter.modeOf('.'), await filter.modeOf('engine.sock'), await filter.modeOf('install-id')],
    ['750', '660', '644'],
  )
  assert.equal(await filter.stop(), 0)
})

test('an invalid id is a configuration error', async () => {
  const { message, child } = await start({ ROOST_INSTALL_ID: '../x' })
  assert.equal(message.type, 'fatal')
  assert.match(message.reason ?? '', /ROOST_INSTALL_ID must be/)
  const code = child.exitCode ?? (await once(child, 'exit'))[0]
  assert.equal(code, 78)
})
