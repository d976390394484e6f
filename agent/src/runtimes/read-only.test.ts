import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matches, mayWrite } from './read-only.ts'

const home = '/home/developer'
const rules = {
  allowed: ['content/**', 'output/**', '*.log', '*.txt', 'metrics.json', '.roost/operator-queue.json'],
  blocked: ['*.py', '*.json', 'Makefile', '.claude/**', '.env', '.env.*', 'README.md'],
}

test('allowed patterns override blocked ones, at the depth they are written for', () => {
  const expected: [string, boolean][] = [
    ['src/app.py', false],
    ['app.py', false],
    ['content/app.py', true],
    ['content/deep/er/x.json', true],
    ['other/content/x.py', false],
    ['metrics.json', true],
    ['workspace/metrics.json', true],
    ['data.json', false],
    ['.roost/operator-queue.json', true],
    ['.roost/other.json', false],
    ['.claude/skills/a/SKILL.md', false],
    ['.claude', false],
    ['.env', false],
    ['.env.local', false],
    ['sub/.env', false],
    ['notes.txt', true],
    ['notes.md', true],
    ['Makefile', false],
  ]
  for (const [path, allowed] of expected) {
    assert.equal(mayWrite(rules, home, path), allowed, path)
    assert.equal(mayWrite(rules, home, `${home}/${path}`), allowed, path)
  }
})

test('a path that returns into the workspace is checked by its resolved location', () => {
  assert.equal(mayWrite(rules, home, `${home}/content/../src/app.py`), false)
  assert.equal(mayWrite(rules, home, 'content/../../developer/app.py'), false)
})

test('paths outside the workspace are allowed', () => {
  assert.equal(mayWrite(rules, home, '/tmp/app.py'), true)
  assert.equal(mayWrite(rules, home, '../other/app.py'), true)
})

test('a single star stays within a name, a double star crosses folders', () => {
  assert.equal(matches('a/*.md', 'a/b.md'), true)
  assert.equal(matches('a/*.md', 'a/b/c.md'), false)
  assert.equal(matches('**/x.md', 'x.md'), true)
  assert.equal(matches('**/x.md', 'a/b/x.md'), true)
  assert.equal(matches('a/**/x.md', 'a/x.md'), true)
  assert.equal(matches('drafts/', 'drafts/a/b'), true)
  assert.equal(matches('a?.md', 'ab.md'), true)
  assert.equal(matches('a.md', 'aXmd'), false)
})
