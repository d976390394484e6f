import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest } from './conversation.ts'
import { isPromptOfCli, isSystemOfHelper, sideAnswer } from './side-requests.ts'

function asking(answerSchema: Record<string, unknown> | null, system = ''): ModelRequest {
  return { model: 'm', system, messages: [], tools: [], streamForm: null, isSide: true, answerSchema }
}

test('prompts written by the CLIs are recognized', () => {
  assert.equal(isPromptOfCli('CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- Do NOT …'), true)
  assert.equal(isPromptOfCli('\nYour task is to create a detailed summary of the conversation so far'), true)
  assert.equal(isPromptOfCli('You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff'), true)
  assert.equal(isPromptOfCli("Summarize the user's primary intent or goal in this conversation"), true)
  assert.equal(isSystemOfHelper('You are a specialized Task Routing AI. Your sole function'), true)
})

test('user text about such prompts is not recognized', () => {
  assert.equal(isPromptOfCli('what does "Your task is to create a detailed summary of" mean?'), false)
  assert.equal(isPromptOfCli('summarize this [[echo]]'), false)
  assert.equal(isSystemOfHelper('You are a helpful agent'), false)
})

test('a JSON answer fits its schema and uses neutral values', () => {
  const schema = {
    type: 'OBJECT',
    properties: {
      complexity_reasoning: { type: 'STRING' },
      complexity_score: { type: 'INTEGER' },
      confidence: { type: 'number' },
      at_least: { type: 'integer', minimum: 5 },
      next_speaker: { type: 'string', enum: ['user', 'model'] },
      is_loop: { type: 'boolean' },
      files: { type: 'array', items: { type: 'string' } },
      inner: { type: ['object', 'null'], properties: { title: { type: 'string' } } },
    },
  }
  assert.deepEqual(JSON.parse(sideAnswer(asking(schema), '')), {
    complexity_reasoning: 'ok',
    complexity_score: 1,
    confidence: 0,
    at_least: 5,
    next_speaker: 'user',
    is_loop: false,
    files: [],
    inner: { title: 'ok' },
  })
})

test('a recursive schema is answered too', () => {
  const schema: Record<string, unknown> = { type: 'object' }
  schema.properties = { again: schema }
  assert.match(sideAnswer(asking(schema), ''), /^\{"again":/)
})

test('a summary uses the requested element, other answers are ok', () => {
  assert.equal(
    sideAnswer(asking(null), 'an <analysis> block followed by a <summary> block'),
    '<summary>ok</summary>',
  )
  const system = 'distilling chat history into a structured XML <state_snapshot>'
  assert.equal(sideAnswer(asking(null, system), 'go on'), '<state_snapshot>ok</state_snapshot>')
  assert.equal(sideAnswer(asking(null), 'give it a title'), 'ok')
})
