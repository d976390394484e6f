import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentTurn, type Message } from './conversation.ts'

function user(text: string, given: Partial<Message> = {}): Message {
  return { role: 'user', text, images: 0, toolResults: [], ...given }
}

function assistant(text = ''): Message {
  return { role: 'assistant', text, images: 0, toolResults: [] }
}

function results(...pairs: [callId: string, text: string][]): Message {
  return user('', { toolResults: pairs.map(([callId, text]) => ({ callId, text })) })
}

test("the turn is the user's last message", () => {
  const turn = currentTurn([user('one'), assistant('1'), user('two', { images: 3 })])
  assert.deepEqual(turn, { text: 'two', images: 3, earlier: ['one', '1'], toolResults: [] })
})

test('tool results and their calls are skipped', () => {
  const messages = [user('go'), assistant(), results(['a', '1']), assistant(), results(['b', '2'])]
  const turn = currentTurn(messages)
  assert.equal(turn.text, 'go')
  assert.deepEqual(turn.toolResults, [
    { callId: 'a', text: '1' },
    { callId: 'b', text: '2' },
  ])
})

test('results of earlier turns belong to the history', () => {
  const turn = currentTurn([
    user('go'),
    assistant(),
    results(['a', 'secret']),
    assistant('done'),
    user('next'),
  ])
  assert.deepEqual(turn.toolResults, [])
  assert.ok(turn.earlier.includes('secret'))
})

test('results that arrive with new user text belong to the previous turn', () => {
  const mixed = user('stop, do this', { toolResults: [{ callId: 'a', text: 'interrupted' }] })
  const turn = currentTurn([user('go'), assistant(), mixed])
  assert.deepEqual([turn.text, turn.toolResults], ['stop, do this', []])
})

test('a call with two results is one call, and its last result counts', () => {
  const turn = currentTurn([user('go'), assistant(), results(['a', 'half']), results(['a', 'whole'])])
  assert.deepEqual(turn.toolResults, [{ callId: 'a', text: 'whole' }])
})

test('a message that contains only reminders is not a turn', () => {
  assert.equal(currentTurn([user('go'), assistant(), results(['a', '1']), user('')]).text, 'go')
})

test('an image without text is a turn', () => {
  assert.deepEqual(currentTurn([user('one'), assistant(), user('', { images: 1 })]).images, 1)
})

test('an empty conversation has an empty turn', () => {
  assert.deepEqual(currentTurn([]), { text: '', images: 0, earlier: [], toolResults: [] })
  assert.deepEqual(currentTurn([assistant('hi')]).text, '')
})
