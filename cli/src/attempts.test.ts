import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAttempts } from './attempts.ts'

const cases: [string, object][] = [
  ['3', { variants: [{}], repeats: 3 }],
  ['claude-code,codex', { variants: [{ runtime: 'claude-code' }, { runtime: 'codex' }], repeats: 1 }],
  ['sonnet, opus', { variants: [{ model: 'sonnet' }, { model: 'opus' }], repeats: 1 }],
  ['codex:gpt-5', { variants: [{ runtime: 'codex', model: 'gpt-5' }], repeats: 1 }],
]
for (const [given, read] of cases) test(given, () => assert.deepEqual(readAttempts(given), read))

test('a word that is no runtime and no model is named', () => {
  for (const given of ['claud', 'claude-code,,codex', 'codex:nothing', '11', '0'])
    assert.throws(() => readAttempts(given), /--attempts/, given)
})
