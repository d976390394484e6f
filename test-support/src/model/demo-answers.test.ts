import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demoMessages } from '@roost/contracts/operations/demo'
import { demoDirectives, demoGreeting } from './demo-answers.ts'
import { startModelServer } from './index.ts'

test('every message of the demo has an answer, also inside the text of a platform', () => {
  for (const message of Object.values(demoMessages)) {
    assert.ok(demoDirectives(`Today is Monday.\n${message}\nBe brief.`).length > 1, message)
  }
  assert.deepEqual(demoDirectives('Who are you?'), [])
})

test('the greeting names what the demo can do, and triggers nothing when it comes back as a message', () => {
  const greeting = demoGreeting('Who are [[reply:x]]?')
  assert.match(greeting, /scripted model/)
  assert.match(greeting, /Who are \(\(reply:x\)\)\?/)
  for (const message of Object.values(demoMessages)) assert.ok(greeting.includes(`- ${message}`))
})

test('only a demo server greets, and directives still decide', async () => {
  await using plain = await startModelServer()
  await using demo = await startModelServer({ demo: true })
  assert.equal(await ask(plain.url, 'hello'), 'ok: hello')
  assert.match(await ask(demo.url, 'hello'), /^Hello! I am the scripted model/)
  assert.equal(await ask(demo.url, '[[reply:done]]'), 'done')
  assert.match(await ask(demo.url, demoGreeting('hi')), /^Hello! I am the scripted model/)
})

async function ask(url: string, content: string): Promise<string> {
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'key', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      model: 'claude-sonnet-5',
      max_tokens: 100,
      messages: [{ role: 'user', content }],
    }),
  })
  const answer = (await response.json()) as { content: { text: string }[] }
  return answer.content[0]?.text ?? ''
}
