import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type GitServer, startGitServer } from '@roost/test-support/git/index'
import { secret } from '../../kit/secret.ts'
import { createGitHub } from './github.ts'
import { type GitHost, GitHostDown } from './port.ts'

let server: GitServer
let host: GitHost
before(async () => {
  server = await startGitServer()
  host = createGitHub({ apiUrl: `${server.url}/api/v3`, fetch })
})
after(() => server[Symbol.asyncDispose]())
const [good, reader, bad] = [secret('tok-1'), secret('read-1'), secret('bad-1')]

test('returns the login of a valid token, null for an invalid one', async () => {
  assert.equal(await host.login(good), 'acme')
  assert.equal(await host.login(bad), null)
})

test("find returns the token's permissions; create works once and only with permission", async () => {
  const input = { repository: 'acme/new', isPrivate: true, description: null }
  assert.equal(await host.find('acme/new', good), null)
  assert.deepEqual(await host.create(input, reader), { ok: false, why: 'refused' })
  const repository = { defaultBranch: 'main', isPrivate: true, mayPush: true }
  assert.deepEqual(await host.create(input, good), { ok: true, repository })
  assert.deepEqual(await host.create(input, good), { ok: false, why: 'taken' })
  assert.deepEqual(await host.find('acme/new', reader), { ...repository, mayPush: false })
  assert.deepEqual(await host.create({ ...input, repository: 'other/new' }, good), { ok: true, repository })
  assert.deepEqual(await host.create(input, bad), { ok: false, why: 'refused' })
})

test('an unreachable, redirecting or broken host is down', async () => {
  for (const how of ['redirect', 'not_git'] as const) {
    server.behave(how)
    await assert.rejects(host.login(good), GitHostDown)
    await assert.rejects(host.find('acme/new', good), GitHostDown)
  }
  server.behave('well')
  const away = createGitHub({ apiUrl: 'http://127.0.0.1:1', fetch })
  await assert.rejects(
    away.login(good),
    (error) => error instanceof GitHostDown && !/tok-1/.test(String(error)),
  )
})
