import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effectiveParallel, minutesOf, resolveModel, toolName } from './rules.ts'

test('a limit above the ceiling is clamped when it takes effect', () => {
  assert.equal(effectiveParallel(3, 10), 3)
  assert.equal(effectiveParallel(12, 10), 10)
  assert.equal(effectiveParallel(0, 10), 1)
})

test('the model: the agent, its template, the platform where the family fits, the runtime', () => {
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

test('the tool of an agent has no hyphens', () =>
  assert.equal(toolName('my-agent_2'), 'chat_with_my_agent_2'))
test('minutes keep their fraction', () => assert.equal(minutesOf(90), 1.5))
