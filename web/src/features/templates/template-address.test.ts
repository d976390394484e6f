import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repositoryOf, templateNameOf } from './template-address.ts'

test('reads the repository from pasted URLs', () => {
  for (const text of [
    'acme/helper',
    ' https://github.com/acme/helper.git ',
    'https://github.com/acme/helper/',
    'git@github.com:acme/helper.git',
    'github:acme/helper',
  ]) {
    assert.equal(repositoryOf(text), 'acme/helper', text)
  }
  for (const text of ['', 'helper', 'a/b/c', 'https://github.com/acme', '-x/y', 'a b/c']) {
    assert.equal(repositoryOf(text), null, text)
  }
})

test('the template names a branch only if one is given', () => {
  assert.equal(templateNameOf('acme/helper', ' '), 'github:acme/helper')
  assert.equal(templateNameOf('acme/helper', 'v2'), 'github:acme/helper@v2')
})
