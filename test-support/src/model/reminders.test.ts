import assert from 'node:assert/strict'
import { test } from 'node:test'
import { userTexts, withoutReminders } from './reminders.ts'

const ownBlocks = [
  '<system-reminder>\nToday is Monday. [[fail]]\n</system-reminder>\n',
  '<session_context>\nThis is the Gemini CLI.\n</session_context>',
  '<hook_context>[[fail]]</hook_context>',
  '<environment_context>\n  <cwd>/work</cwd>\n</environment_context>',
  '<turn_aborted>\nThe user interrupted.\n</turn_aborted>',
  '# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\n[[fail]]\n</INSTRUCTIONS>',
  'Another language model started to solve this problem and produced a summary of it: [[fail]]',
  'This session is being continued from a previous conversation that ran out of context. [[fail]]',
  '<image name=[Image #1] path="red.png">',
  '</image>',
  '[Image: source: /tmp/images/1.png]\n',
]

for (const block of ownBlocks) {
  test(`${JSON.stringify(block.slice(0, 50))} belongs to the CLI, not the user`, () => {
    assert.equal(withoutReminders(block), null)
  })
}

const userBlocks = [
  'hello',
  ' hello \n',
  '',
  'what does <system-reminder> mean?',
  'see <environment_context> and </environment_context> in the docs',
  'look at [Image: a] please',
]

for (const block of userBlocks) {
  test(`${JSON.stringify(block)} belongs to the user, unchanged`, () => {
    assert.equal(withoutReminders(block), block)
  })
}

test('a reminder in the same block as user text is removed', () => {
  assert.equal(withoutReminders('<system-reminder>a</system-reminder>\n\nhello'), 'hello')
  assert.equal(withoutReminders('hello\n\n<system-reminder>a\nb</system-reminder>'), 'hello')
  assert.equal(withoutReminders('one\n<system-reminder>a</system-reminder>\ntwo'), 'one\ntwo')
  assert.equal(withoutReminders('<hook_context>a</hook_context>\n\nhello'), 'hello')
})

test('content of files that Gemini attaches is not user text', () => {
  const blocks = [
    'read @notes.txt',
    '\n--- Content from referenced files ---',
    '\nContent from @notes.txt:\n',
    '[[fail]]',
    '\n--- End of content ---',
    'and answer',
  ]
  assert.deepEqual(userTexts(blocks), ['read @notes.txt', 'and answer'])
  assert.deepEqual(userTexts(blocks.slice(0, 4)), ['read @notes.txt'])
})
