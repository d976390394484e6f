import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { findPostgres, hasRedis, startPostgres, startRedis } from './services.ts'

const postgres = await findPostgres()
const hasRedisServer = await hasRedis()

test('PostgreSQL runs with a superuser and leaves no files', {
  skip: postgres ? false : 'no PostgreSQL',
}, async (t) => {
  const parent = await folder(t)
  const service = await startPostgres(postgres ?? '', parent)
  const statements = [
    '-Atc',
    'create database made_now',
    '-Atc',
    'select rolsuper from pg_roles where rolname = current_user',
  ]
  const { stdout } = await promisify(execFile)('psql', [service.url, ...statements])
  assert.match(stdout, /^t$/m)
  await service.stop()
  assert.deepEqual(await readdir(parent), [])
})

test('Redis responds and leaves no files', { skip: hasRedisServer ? false : 'no Redis' }, async (t) => {
  const parent = await folder(t)
  const service = await startRedis(parent)
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.write('PING\r\n')
  const [answer] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])))
  assert.match(String(answer), /PONG/)
  socket.destroy()
  await service.stop()
  assert.deepEqual(await readdir(parent), [])
})

async function folder(t: { after(work: () => Promise<void>): void }): Promise<string> {
  // A short path that other users can enter, because PostgreSQL runs as its own user.
  const path = await mkdtemp(join('/tmp', 'roost-services-'))
  await promisify(execFile)('chmod', ['755', path])
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}
