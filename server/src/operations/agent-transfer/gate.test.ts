import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '../../kit/fault.ts'
import type { TarEntry } from '../../kit/tar.ts'
import { createGate, type GateOptions } from './gate.ts'

const untrusted: GateOptions = { withCredentials: false, isTrusted: false, quotaBytes: 0 }
const trusted: GateOptions = { ...untrusted, isTrusted: true }
const whole: GateOptions = { ...trusted, withCredentials: true }

const entry = (path: string, over: Partial<TarEntry> = {}): TarEntry => ({
  path: `workspace/${path}`,
  type: 'file',
  link: '',
  size: 1,
  mode: 0o644,
  modified: 0,
  ...over,
})
const link = (path: string, target: string) => entry(path, { type: 'symlink', link: target, size: 0 })
const hard = (path: string, target: string) =>
  entry(path, { type: 'hardlink', link: `workspace/${target}`, size: 0 })
const folder = (path: string) => entry(`${path}/`, { type: 'folder', size: 0 })

test('what is taken, left out and named', () => {
  for (const [path, ...verdicts] of [
    // without trust, with trust, with trust and credentials
    ['notes.txt', 'take', 'take', 'take'],
    ['CLAUDE.md', 'take', 'take', 'take'],
    ['.claude/settings.json', 'untrusted', 'take', 'take'],
    ['.gemini/settings.json', 'untrusted', 'take', 'take'],
    ['.mcp.json.template', 'untrusted', 'take', 'take'],
    ['.roost/setup.sh', 'untrusted', 'take', 'take'],
    ['.roost/pre-check', 'untrusted', 'take', 'take'],
    ['.git/config', 'untrusted', 'take', 'take'],
    ['project/.git/hooks/post-commit', 'untrusted', 'take', 'take'],
    ['.git/modules/x/config', 'untrusted', 'take', 'take'],
    ['project/.git', 'untrusted', 'take', 'take'],
    ['.git/objects/ab/cd', 'take', 'take', 'take'],
    ['.env', 'omit', 'omit', 'take'],
    ['.mcp.json', 'omit', 'omit', 'take'],
    ['project/.ENV', 'omit', 'omit', 'take'],
    ['credentials/service', 'omit', 'omit', 'take'],
    ['.aws/credentials', 'omit', 'omit', 'take'],
    ['.roost/operator-queue.json', 'omit', 'omit', 'omit'],
    ['.roost/anything', 'omit', 'omit', 'omit'],
    ['.ssh/authorized_keys', 'omit', 'omit', 'omit'],
    ['.credentials.enc', 'omit', 'omit', 'omit'],
    ['shared-in/other/file', 'omit', 'omit', 'omit'],
    ['.roost-initialized', 'omit', 'omit', 'omit'],
  ] as const) {
    const found = [untrusted, trusted, whole].map((options) => createGate(options).judge(entry(path)).verdict)
    assert.deepEqual(found, verdicts, path)
  }
})

test('the folder of a repository is taken without trust, and that of its hooks is not', () => {
  const verdicts = ['project/.git', 'project/.git/hooks', '.claude'].map(
    (path) => createGate(untrusted).judge(folder(path)).verdict,
  )
  assert.deepEqual(verdicts, ['take', 'untrusted', 'untrusted'])
})

test('422 for a path that leaves the workspace', () => {
  const paths = [
    '../escape',
    'a/../../escape',
    '/etc/passwd',
    'a//b',
    './a',
    'a/.',
    '..',
    '',
    'a\0b',
    `${'n'.repeat(256)}`,
    'd/'.repeat(2100),
  ].map((path) => `workspace/${path}`)
  for (const path of [...paths, '/workspace/a', 'other/a', '../workspace/a', 'workspace'])
    assert.throws(
      () => createGate(whole).judge(entry('', { path })),
      (error) => isFault(error, 'invalid_archive'),
      JSON.stringify(path.slice(0, 40)),
    )
})

test('422 for writing through a link, wherever it leads', () => {
  for (const [name, all] of [
    ['below a link', [link('out', '/etc'), entry('out/passwd')]],
    ['deep below a link', [link('out', '..'), entry('out/a/b/c')]],
    ['below an inner link', [link('out', 'notes'), entry('out/x')]],
    ['in place of a link', [link('out', '/etc/passwd'), entry('out')]],
    ['below a hard link to a link', [link('out', '/etc'), hard('again', 'out'), entry('again/passwd')]],
    ['a hard link below a link', [link('out', '/etc'), hard('copy', 'out/shadow')]],
    ['a hard link to the outside', [hard('copy', '../../etc/shadow')]],
    ['an empty target', [link('out', '')]],
  ] as const) {
    const gate = createGate(whole)
    const judge = () => all.map((each) => gate.judge(each))
    assert.throws(judge, (error) => isFault(error, 'invalid_archive'), name)
  }
})

test('links that nothing is written through are taken, also those that lead outside', () => {
  const gate = createGate(untrusted)
  for (const each of [link('python', '/usr/bin/python3'), link('up', '..'), hard('b', 'a')])
    assert.equal(gate.judge(each).verdict, 'take')
})

test('another name of a file counts as the file', () => {
  assert.equal(createGate(untrusted).judge(hard('harmless', '.claude/settings.json')).verdict, 'untrusted')
  assert.equal(createGate(trusted).judge(hard('harmless', '.env')).verdict, 'omit')
  assert.equal(createGate(whole).judge(hard('harmless', '.roost/keys')).verdict, 'omit')
})

test('409 when the files need more than the quota, which counts whole blocks', () => {
  const gate = createGate({ ...untrusted, quotaBytes: 3 * 4096 })
  for (const path of ['a', 'b', 'c']) gate.judge(entry(path))
  // What is left out needs no room.
  gate.judge(entry('.claude/x', { size: 10 ** 9 }))
  assert.throws(
    () => gate.judge(entry('d', { size: 0 })),
    (error) => isFault(error, 'disk_quota_reached'),
  )
})

test('422 for more links than the platform remembers', () => {
  const gate = createGate(whole)
  assert.throws(
    () => {
      for (let index = 0; index <= 100_000; index += 1) gate.judge(link(`l${index}`, 'x'))
    },
    (error) => isFault(error, 'invalid_archive') && /100000 links/.test((error as Error).message),
  )
})
