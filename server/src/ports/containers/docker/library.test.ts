import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'

/** Returns the heavy libraries that a process has loaded after a request to an engine. */
async function librariesLoadedBy(dockerHost: string): Promise<string[]> {
  const program = `
    const { connect } = await import(${JSON.stringify(new URL('connect.ts', import.meta.url).href)})
    await connect('docker:').version().catch(() => {})
    const { createRequire } = await import('node:module')
    const files = Object.keys(createRequire(${JSON.stringify(import.meta.filename)}).cache)
    const names = ['dockerode', 'ssh2', '@grpc/grpc-js', 'protobufjs']
    console.log(JSON.stringify(names.filter((name) => files.some((file) => file.includes('/node_modules/' + name + '/')))))
    process.exit()
  `
  const env = { ...process.env, DOCKER_HOST: dockerHost }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env,
  })
  return JSON.parse(stdout)
}

test('a process that calls an engine loads no libraries for SSH or build sessions', async () => {
  assert.deepEqual(await librariesLoadedBy('unix:///nowhere/docker.sock'), ['dockerode'])
})

test('an engine behind SSH is contacted over SSH', async () => {
  const greeted = Promise.withResolvers<string>()
  const engine = createServer((socket) => {
    socket.once('data', (data) => {
      greeted.resolve(data.toString())
      socket.destroy()
    })
    socket.on('error', () => {})
  })
  try {
    await once(engine.listen(0, '127.0.0.1'), 'listening')
    const { port } = engine.address() as AddressInfo
    assert.deepEqual(await librariesLoadedBy(`ssh://someone@127.0.0.1:${port}`), ['dockerode', 'ssh2'])
    assert.match(await greeted.promise, /^SSH-2\.0-/)
  } finally {
    engine.close()
  }
})
