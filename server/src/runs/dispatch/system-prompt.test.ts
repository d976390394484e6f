import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PromptParts, systemPrompt } from './system-prompt.ts'

const parts: PromptParts = {
  row: {
    id: 'e1',
    kind: 'task',
    session_id: null,
    triggered_by: 'schedule',
    attempt_number: 2,
    timeout_seconds: 600,
    source_user_email: 'ann@example.org',
    source_agent_name: null,
  },
  request: {
    system_prompt: 'TASK',
    max_turns: null,
    resume_session_id: null,
    attachments: 0,
    schedule: { name: 'nightly', nextRunAt: '2026-01-06T00:00:00.000Z' },
  },
  agentName: 'scout',
  platformPrompt: 'PLATFORM',
  customInstructions: 'OWN',
  skills: 'SKILLS',
  callable: ['helper'],
}

test('the parts have a fixed order', () => {
  const prompt = systemPrompt(parts)
  const places = ['hosted by Roost', 'PLATFORM', 'OWN', 'SKILLS', 'Execution: e1', 'TASK'].map((part) =>
    prompt.indexOf(part),
  )
  assert.ok(places.every((place) => place >= 0))
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  )
})

test("a task's part names trigger, schedule, attempt, caller, limit and callable agents", () => {
  const prompt = systemPrompt(parts)
  for (const line of [
    'Trigger: schedule',
    'Schedule: nightly',
    'Next run: 2026-01-06T00:00:00.000Z',
    'Attempt: 2',
    'Caller: ann@example.org',
    'Time limit: 600 seconds',
    'Agents you may call: helper',
  ]) {
    assert.ok(prompt.includes(line), line)
  }
})

test('empty parts are omitted', () => {
  const bare = systemPrompt({
    ...parts,
    platformPrompt: ' ',
    customInstructions: null,
    skills: null,
    callable: [],
    request: { ...parts.request, system_prompt: null, schedule: null },
  })
  assert.doesNotMatch(bare, /\n\n\n|Schedule|Agents you may call/)
})

test("a chat's prompt does not change between turns", () => {
  const turn = (id: string) =>
    systemPrompt({
      ...parts,
      row: { ...parts.row, id, kind: 'chat', session_id: 's1', triggered_by: 'chat' },
    })
  assert.equal(turn('e1'), turn('e2'))
  assert.match(turn('e1'), /Conversation: s1/)
})
