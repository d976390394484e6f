import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { identitiesOf, makeTestHome } from '../test/home.ts'
import { migrateState, volumeOf } from './volume.ts'

function setUp() {
  const place = makeTestHome()
  const volume = volumeOf(join(place.root, 'volume'))
  mkdirSync(volume.owner, { recursive: true })
  return { ...place, volume, identities: identitiesOf(place.home) }
}

test('state that an earlier version kept in the workspace becomes the owner’s', async () => {
  using t = setUp()
  mkdirSync(join(t.home, '.roost', 'state', 'codex'), { recursive: true })
  writeFileSync(join(t.home, '.roost', 'state', 'codex', 'session.jsonl'), 'talk')
  mkdirSync(join(t.home, '.roost', 'packs'))
  await migrateState(t.home, t.volume, t.identities)
  assert.equal(readFileSync(join(t.volume.owner, 'state', 'codex', 'session.jsonl'), 'utf8'), 'talk')
  for (const name of ['state', 'packs']) assert.equal(existsSync(join(t.home, '.roost', name)), false)
})

test('a link in place of the platform’s folder deletes nothing of the owner', async () => {
  using t = setUp()
  mkdirSync(join(t.volume.owner, 'state'))
  writeFileSync(join(t.volume.owner, 'state', 'session.jsonl'), 'talk')
  symlinkSync(t.volume.owner, join(t.home, '.roost'))
  await migrateState(t.home, t.volume, t.identities)
  assert.equal(readFileSync(join(t.volume.owner, 'state', 'session.jsonl'), 'utf8'), 'talk')
})
