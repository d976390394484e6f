import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseConfig } from '../config.ts'
import { defaultSkillSource } from './installed.ts'

const manifest = join(import.meta.dirname, '../../../package.json')
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }

test('the bundled skills are pinned to the release tag of this build, v<major>.<minor>.<patch>', () => {
  const ref = `v${version}`
  assert.match(ref, /^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/)
  assert.deepEqual(defaultSkillSource(parseConfig({}), version), { url: 'bundled', ref })
  const other = parseConfig({ ROOST_DEFAULT_SKILL_SOURCE_REF: 'v1' })
  assert.deepEqual(defaultSkillSource(other, version), { url: 'bundled', ref })
})

test('another community source is pinned to the tag of the configuration', () => {
  const url = 'https://github.com/acme/skills'
  const env = { ROOST_DEFAULT_SKILL_SOURCE: url, ROOST_DEFAULT_SKILL_SOURCE_REF: 'v2.0.1' }
  assert.deepEqual(defaultSkillSource(parseConfig(env), version), { url, ref: 'v2.0.1' })
  assert.equal(defaultSkillSource(parseConfig({ ROOST_DEFAULT_SKILL_SOURCE: 'none' }), version), null)
})
