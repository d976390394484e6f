import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ancestorsOf,
  holdsProtected,
  isProtected,
  nameFault,
  nameOf,
  paramOf,
  parentOf,
  placeOf,
  visibleName,
} from './paths.ts'

for (const [param, kind, path] of [
  [undefined, 'folder', ''],
  ['', 'folder', ''],
  ['/', 'folder', ''],
  ['/home/developer', 'folder', ''],
  ['/home/developer/a.md', 'file', 'a.md'],
  ['src/', 'folder', 'src'],
  ['src/a b%2F.md', 'file', 'src/a b%2F.md'],
  ['/etc/passwd', 'file', 'etc/passwd'],
] as const) {
  test(`?path=${param} is the ${kind} "${path}"`, () => assert.deepEqual(placeOf(param), { kind, path }))
}

test('a place survives the round trip through the address', () => {
  for (const param of [undefined, 'src/', 'src/a b%2F.md', '.hidden']) {
    assert.equal(paramOf(placeOf(param)), param)
  }
})

test('a path has a name, a parent and ancestors', () => {
  assert.deepEqual([nameOf('a/b/c.md'), parentOf('a/b/c.md')], ['c.md', 'a/b'])
  assert.deepEqual([nameOf('c.md'), parentOf('c.md')], ['c.md', ''])
  assert.deepEqual(ancestorsOf('a/b/c.md'), ['a', 'a/b'])
  assert.deepEqual(ancestorsOf('c.md'), [])
})

test('protects entries of git, credentials and the platform, but no similar names', () => {
  for (const path of ['.env', '.git', '.git/config', '.ssh/authorized_keys', '.roost', '.roost/keys/host'])
    assert.ok(isProtected(path), path)
  for (const path of ['.env.local', '.gitignore', 'x/.env', '.roost/pre-check'])
    assert.ok(!isProtected(path), path)
  assert.ok(holdsProtected('.roost'))
  assert.ok(!holdsProtected('src'))
})

test('a new name is validated before it is sent', () => {
  for (const name of ['a.md', 'a/b.md', '.x', 'a b%2F.md', '<img src=x>', '…'])
    assert.equal(nameFault(name), null, name)
  for (const name of ['', '.', '..', 'a/../b', '/a', 'a/', 'a//b', 'a\0', 'é'.repeat(128)])
    assert.notEqual(nameFault(name), null, name)
})

test('invisible characters of a name are spelled out', () => {
  assert.equal(visibleName('exe.\u202etxt'), 'exe.⟨U+202E⟩txt')
  assert.equal(visibleName('a\nb\u200b'), 'a⟨U+000A⟩b⟨U+200B⟩')
  assert.equal(visibleName(' a b '), '␠a b␠')
  assert.equal(visibleName('名前 é <b>.txt'), '名前 é <b>.txt')
})
