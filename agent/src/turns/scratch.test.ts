import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { identitiesOf, makeTestHome } from '../test/home.ts'
import { createScratches } from './scratch.ts'

const asRoot = process.getuid?.() === 0 ? {} : { skip: 'only root can give a folder to another user' }
const user = { uid: 30_001, gid: 30_001, groups: [30_001] }

function open() {
  const place = makeTestHome()
  const identities = identitiesOf(place.home)
  return {
    identities,
    scratches: createScratches(place.scratch, identities),
    /** Another process of the program. */
    again: () => createScratches(place.scratch, identities),
    left: () => readdirSync(join(place.scratch, 'roost-turns')),
    [Symbol.dispose]: place[Symbol.dispose],
  }
}

test('a scratch folder is deleted, before and after its handover', async () => {
  using t = open()
  const users = process.getuid?.() === 0 ? [t.identities.developer, user] : [t.identities.developer]
  for (const each of users)
    for (const isHandedOver of [false, true]) {
      const scratch = await t.scratches.make(each)
      mkdirSync(join(scratch.path, 'images'))
      writeFileSync(join(scratch.path, 'images', 'one.png'), '')
      if (isHandedOver) await scratch.handOver()
      await scratch.remove()
      assert.equal(existsSync(scratch.path), false)
    }
})

test('after the handover nothing is deleted that the user could not delete', asRoot, async () => {
  using t = open()
  const scratch = await t.scratches.make(user)
  await scratch.handOver()
  mkdirSync(join(scratch.path, 'foreign'))
  writeFileSync(join(scratch.path, 'foreign', 'file'), '')
  await scratch.remove()
  assert.equal(existsSync(join(scratch.path, 'foreign', 'file')), true)
})

test('folders of an earlier process are deleted', async () => {
  using t = open()
  const users = process.getuid?.() === 0 ? [t.identities.developer, user] : [t.identities.developer]
  for (const each of users) {
    const scratch = await t.scratches.make(each)
    writeFileSync(join(scratch.path, 'settings.json'), '{}')
    mkdirSync(join(scratch.closed, `sockets-${each.uid}`))
    await scratch.handOver()
  }
  await t.scratches.make(t.identities.developer)
  await t.again().clear()
  assert.deepEqual(t.left(), ['closed'])
  assert.deepEqual(readdirSync(join((await t.scratches.make(user)).closed)), [])
})

test('no folder is made where another user was first', asRoot, async () => {
  using place = makeTestHome()
  const scratches = createScratches(place.scratch, identitiesOf(place.home))
  const path = join(place.scratch, 'roost-turns')
  mkdirSync(path)
  chownSync(path, user.uid, user.gid)
  await assert.rejects(scratches.make(user), /belongs to another user/)
  rmdirSync(path)
  await scratches.make(user)
})
