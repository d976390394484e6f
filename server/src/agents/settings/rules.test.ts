import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { effectiveParallel, minutesOf, resolveModel, toolNames } from './rules.ts'

test('a limit above the ceiling is clamped when it is used', () => {
  assert.equal(effectiveParallel(3, 10), 3)
  assert.equal(effectiveParallel(12, 10), 10)
  assert.equal(effectiveParallel(0, 10), 1)
})

test("the model: the agent's, its template's, the platform's if the family matches, else the runtime's", () => {
  const agent = { runtime: 'claude-code', runtime_model: null, template_model: null } as const
  const from = (over: object, platform: string | null) => resolveModel({ ...agent, ...over }, platform)
  assert.deepEqual(from({ runtime_model: 'opus', template_model: 'haiku' }, 'sonnet'), {
    resolved_model: 'opus',
    source: 'agent',
  })
  assert.deepEqual(from({ template_model: 'haiku' }, 'sonnet'), {
    resolved_model: 'haiku',
    source: 'template',
  })
  assert.deepEqual(from({}, 'Sonnet'), { resolved_model: 'Sonnet', source: 'platform' })
  assert.deepEqual(from({ runtime: 'gemini-cli' }, 'sonnet'), { resolved_model: null, source: 'runtime' })
  assert.equal(from({ runtime: 'gemini-cli' }, 'gemini-3-pro').source, 'platform')
  assert.equal(from({ runtime: 'codex' }, 'gpt-5').source, 'platform')
  assert.equal(from({}, null).source, 'runtime')
})

describe('the tool names of agents', () => {
  const agent = (id: string, name: string, created = `2026-01-0${id}`) => ({ id, name, created })
  test('have no hyphens and at most 48 characters of the name', () => {
    const names = toolNames([agent('1', 'my-agent_2'), agent('2', 'a'.repeat(63))])
    assert.equal(names.get('1'), 'chat_with_my_agent_2')
    assert.equal(names.get('2'), `chat_with_${'a'.repeat(48)}`)
  })
  test('are unique, and the oldest agent keeps the plain name, in any order', () => {
    const [old, young] = [agent('1', 'a-b'), agent('2', 'a_b')]
    for (const agents of [
      [old, young],
      [young, old],
    ]) {
      const names = toolNames(agents)
      assert.equal(names.get('1'), 'chat_with_a_b')
      assert.match(names.get('2') ?? '', /^chat_with_a_b_[0-9a-f]{6}$/)
    }
  })
  test('differ from those of the platform', () =>
    assert.match(toolNames([agent('1', 'agent')]).get('1') ?? '', /^chat_with_agent_[0-9a-f]{6}$/))
})
test('minutes keep two decimals', () => assert.equal(minutesOf(90), 1.5))
