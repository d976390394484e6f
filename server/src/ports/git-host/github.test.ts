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

test('a token is asked for; one that is void is nobody’s', async () => {
  assert.equal(await host.login(good), 'acme')
  assert.equal(await host.login(bad), null)
})

test('a repository is found with what the token may do there, made once, and refused to who may not', async () => {
  const wanted = { repository: 'acme/new', isPrivate: true, description: null }
  assert.equal(await host.find('acme/new', good), null)
  assert.deepEqual(await host.create(wanted, reader), { ok: false, why: 'refused' })
  const repository = { defaultBranch: 'main', isPrivate: true, mayPush: true }
  assert.deepEqual(await host.create(wanted, good), { ok: true, repository })
  assert.deepEqual(await host.create(wanted, good), { ok: false, why: 'taken' })
  assert.deepEqual(await host.find('acme/new', reader), { ...repository, mayPush: false })
  assert.deepEqual(await host.create({ ...wanted, repository: 'other/new' }, good), { ok: true, repository })
  assert.deepEqual(await host.create(wanted, bad), { ok: false, why: 'refused' })
})

test('a host that is away, redirects or answers something else is down', async () => {
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
