import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../kit/clock.ts'
import { createIdentities } from '../processes/identity.ts'
import { makeTestHome, ownersFilesOf } from '../test/home.ts'
import { runPreCheck } from './pre-check.ts'

const identities = createIdentities({
  uid: process.getuid?.() ?? 0,
  hasAmbient: false,
  homeOwner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  hasSetpriv: false,
})

async function runHook(script: string | null, { mode = 0o755, seconds = 10 } = {}) {
  using place = makeTestHome()
  const { home } = place
  await mkdir(join(home, '.roost'))
  if (script !== null) {
    await writeFile(join(home, '.roost', 'pre-check'), `#!/bin/sh\n${script}\n`)
    await chmod(join(home, '.roost', 'pre-check'), mode)
  }
  const env = { PATH: process.env.PATH ?? '', HOME: home }
  // Awaited, because the workspace is deleted when this returns.
  const ownersFiles = ownersFilesOf(home)
  const log = { warn() {} }
  return await runPreCheck({ home, ownersFiles, env, identities, clock: systemClock, log, seconds })
}

test('the output of the hook, run in the home directory, is returned', async () => {
  const answer = await runHook('echo "three new mails"; test "$PWD" = "$HOME"; exit $?')
  assert.deepEqual(answer, { hook_present: true, exit_code: 0, stdout: 'three new mails\n', stderr: '' })
})

test('a missing or non-executable hook counts as absent', async () => {
  assert.equal((await runHook(null)).hook_present, false)
  assert.equal((await runHook('echo hi', { mode: 0o644 })).hook_present, false)
})

test('a failing exit is returned with its error output', async () => {
  const answer = await runHook('echo broken >&2; exit 3')
  assert.deepEqual([answer.exit_code, answer.stdout, answer.stderr], [3, '', 'broken'])
})

test('output is truncated at 100,000 characters', async () => {
  const answer = await runHook('yes 0123456789 | head -c 300000')
  assert.equal(answer.stdout.length, 100_000)
})

test('a hook that exceeds its time limit is killed with its children and has no exit code', async () => {
  const answer = await runHook('sleep 30 & echo early; sleep 30', { seconds: 0.3 })
  assert.deepEqual([answer.hook_present, answer.exit_code], [true, null])
})
