import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createIdentities, readIdentityFacts } from '../processes/identity.ts'
import { createPermissions } from './permissions.ts'

const asRoot = { skip: process.getuid?.() === 0 ? false : 'it needs root' }

test(
  'files of a reader whose process still runs are writable in the next turn of the developer',
  asRoot,
  async () => {
    const root = mkdtempSync(join(tmpdir(), 'roost-permissions-'))
    try {
      chmodSync(root, 0o755)
      const [home, state] = [join(root, 'home'), join(root, 'state')]
      for (const folder of [home, state, join(home, '.tmp'), join(home, 'content')]) {
        mkdirSync(folder)
        chownSync(folder, 1000, 1000)
      }
      const identities = createIdentities(readIdentityFacts(statSync(home)))
      const permissions = createPermissions(home, state, identities)
      const made = join(home, 'content', 'mine')
      const isOpen = () => (statSync(made).mode & 0o070) === 0o070
      await permissions.beforeDeveloper()
      await permissions.openForReader({ blocked: [], allowed: ['content/**'] })
      const script = ['-c', 'umask 077; mkdir "$1"', 'sh', made]
      const { command, args, options } = identities.as(identities.reader, '/bin/sh', script)
      execFileSync(command, args, options)
      assert.equal(isOpen(), false)
      await permissions.beforeDeveloper()
      assert.equal(isOpen(), true)

      // The end of the process is on its way when the turn begins.
      chmodSync(made, 0o700)
      void permissions.openForDeveloper()
      await permissions.beforeDeveloper()
      assert.equal(isOpen(), true)
    } finally {
      rmSync(root, { recursive: true })
    }
  },
)

test('links lead to nothing outside the workspace that is opened for the reader', asRoot, async () => {
  const root = mkdtempSync(join(tmpdir(), 'roost-permissions-'))
  try {
    chmodSync(root, 0o755)
    const [home, state, outside] = [join(root, 'home'), join(root, 'state'), join(root, 'outside')]
    const inside = join(home, 'docs', 'new')
    for (const folder of [home, state, outside, join(outside, 'deep'), join(home, 'docs'), inside]) {
      mkdirSync(folder)
      chownSync(folder, 1000, 1000)
      chmodSync(folder, 0o700)
    }
    chmodSync(home, 0o755)
    symlinkSync(outside, join(home, 'out'))
    symlinkSync('docs', join(home, 'inside'))
    symlinkSync(join(outside, 'deep'), join(home, 'content'))
    const permissions = createPermissions(home, state, createIdentities(readIdentityFacts(statSync(home))))
    const allowed = ['out/deep/**', 'out/new/**', 'content/**', 'inside/new/**']
    await permissions.openForReader({ blocked: [], allowed })
    for (const folder of [outside, join(outside, 'deep')]) {
      const { mode, gid } = statSync(folder)
      assert.deepEqual([mode & 0o7777, gid], [0o700, 1000], folder)
    }
    assert.deepEqual(readdirSync(outside), ['deep'])
    assert.equal(statSync(join(home, 'docs')).mode & 0o7777, 0o701)
    assert.equal(statSync(inside).mode & 0o070, 0o070)
  } finally {
    rmSync(root, { recursive: true })
  }
})
