import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

/** Which of the heavy libraries a process has read once it has a client. */
async function readBy(dockerHost: string): Promise<string[]> {
  const program = `
    const { connect } = await import(${JSON.stringify(new URL('connect.ts', import.meta.url).href)})
    connect('docker:')
    const { createRequire } = await import('node:module')
    const files = Object.keys(createRequire(${JSON.stringify(import.meta.filename)}).cache)
    const names = ['dockerode', 'ssh2', '@grpc/grpc-js', 'protobufjs']
    console.log(JSON.stringify(names.filter((name) => files.some((file) => file.includes('/node_modules/' + name + '/')))))
  `
  const env = { ...process.env, DOCKER_HOST: dockerHost }
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env,
  })
  return JSON.parse(stdout)
}

test('a process that talks to an engine reads nothing that is for SSH or for sessions of builds', async () => {
  assert.deepEqual(await readBy('unix:///var/run/docker.sock'), ['dockerode'])
})

test('an engine behind SSH is reached by the library that is for it', async () => {
  assert.deepEqual(await readBy('ssh://someone@engine.example'), ['dockerode', 'ssh2'])
})
