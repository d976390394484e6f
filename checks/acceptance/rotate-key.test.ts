/** Rotating the encryption key of an installation with real processes. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { signIn, startPlatform } from './platform.ts'
import { createAgent } from './steps.ts'

const main = join(import.meta.dirname, '../../cli/src/main.ts')

async function roost(...args: string[]) {
  const env = { ...process.env, ROOST_BACKUP_PASSPHRASE: 'correct horse battery' }
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

test('after a rotation everything works with the new key, and the backup before it with the old one', async () => {
  const fake = { ROOST_CONTAINERS_URL: 'fake:' }
  await using before = await startPlatform({ env: fake })
  const { dataDir } = before
  await createAgent(before, 'wren')
  const schedule = { name: 'daily', message: 'hello', cron_expression: '0 3 * * *' }
  const { json: made } = await before.request('POST', '/api/agents/wren/schedules', schedule)
  const webhook = `/api/agents/wren/schedules/${made.id}/webhook`
  const { json: address } = await before.request('POST', webhook)
  assert.match(address.webhook_url, /\/api\/webhooks\//, JSON.stringify(address))
  const keyOf = async (folder: string) => (await readFile(join(folder, 'encryption.key'), 'utf8')).trim()
  const old = await keyOf(dataDir)

  const early = await roost('rotate-key', '--data-dir', dataDir)
  assert.deepEqual([early.code, /The database is in use/.test(early.err)], [1, true], early.out + early.err)
  assert.equal(await keyOf(dataDir), old)
  await before.stopApi()
  const { code, out, err } = await roost('rotate-key', '--data-dir', dataDir)
  assert.equal(code, 0, out + err)
  assert.match(out, /\d+ values were sealed with the new key and read back/)
  const fresh = await keyOf(dataDir)
  assert.notEqual(fresh, old)
  assert.ok(!(out + err).includes(fresh) && !(out + err).includes(old), 'no key is printed')

  await before.startApi()
  before.token = await signIn(before)
  const { json: same } = await before.request('GET', webhook)
  assert.equal(same.webhook_url, address.webhook_url)
  const { json: log } = await before.request('GET', '/api/audit-log?event_type=configuration')
  assert.match(JSON.stringify(log), /rotate_encryption_key/)
  await before.stopApi()

  const env = { ...fake, ROOST_DATA_DIR: dataDir, ROOST_ENCRYPTION_KEY: old }
  await assert.rejects(
    startPlatform({ env, password: false }),
    /ROOST_ENCRYPTION_KEY is a key that was rotated/,
  )

  const archives = (await readdir(join(dataDir, 'backups'))).toSorted()
  const to = join(dataDir, 'restored')
  const restored = await roost('restore', join(dataDir, 'backups', archives[0] ?? ''), '--data-dir', to)
  assert.equal(restored.code, 0, restored.out + restored.err)
  assert.equal(await keyOf(to), old)
  await using again = await startPlatform({ env: { ...fake, ROOST_DATA_DIR: to }, password: false })
  again.token = await signIn(again)
  const { json: earlier } = await again.request('GET', webhook)
  assert.equal(earlier.webhook_url.split('/').at(-1), address.webhook_url.split('/').at(-1))
})
