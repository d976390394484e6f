import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { claudeHomeScript } from './claude-home.ts'

type Facts = Parameters<typeof claudeHomeScript>[0]
const alone: Facts['obeys'] = { settings: null, hasFolder: true }
const prepare = (places: Facts['places'], obeys = alone) =>
  execFileSync('/bin/sh', ['-ec', claudeHomeScript({ places, obeys })])

test("the workspace's skills are linked into the CLI's own folder, including later ones; repeating it changes nothing", async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'roost-claude-'))
  t.after(() => rm(home, { recursive: true }))
  const places = { home, state: join(home, '.roost/state'), scratch: join(home, 'scratch') }
  prepare(places)
  prepare(places)
  const skill = join(home, '.claude/skills/report')
  await mkdir(skill, { recursive: true })
  await writeFile(join(skill, 'SKILL.md'), 'Do it.')
  assert.equal(await readFile(join(places.state, 'skills/report/SKILL.md'), 'utf8'), 'Do it.')
})

test('an existing folder in the CLI’s folder is kept', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'roost-claude-'))
  t.after(() => rm(home, { recursive: true }))
  const state = join(home, 'state')
  await mkdir(join(state, 'commands'), { recursive: true })
  await writeFile(join(state, 'commands/own.md'), 'own')
  prepare({ home, state, scratch: join(home, 'scratch') })
  assert.equal(await readFile(join(state, 'commands/own.md'), 'utf8'), 'own')
})

test('in a shared workspace the instructions are linked, and a folder of somebody else is not', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'roost-claude-'))
  t.after(() => rm(home, { recursive: true }))
  const places = { home, state: join(home, 'state'), scratch: join(home, 'scratch') }
  await mkdir(join(home, '.claude/skills'), { recursive: true })
  await writeFile(join(home, 'CLAUDE.md'), 'Be kind.')
  const isLinked = (name: string) => existsSync(join(places.state, name))
  prepare(places)
  assert.deepEqual(['CLAUDE.md', 'skills'].map(isLinked), [false, true])
  prepare(places, { settings: [], hasFolder: false })
  assert.deepEqual(['CLAUDE.md', 'skills'].map(isLinked), [true, false])
  prepare(places)
  assert.deepEqual(['CLAUDE.md', 'skills'].map(isLinked), [false, true])
})
