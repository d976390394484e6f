import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ModelServer, startModelServer } from './index.ts'
import { objectOf } from './json.ts'
import {
  type Asking,
  anthropicClient,
  ask,
  googleClient,
  openaiClient,
  type TestMessage,
  type WireClient,
} from './testing/wire-clients.ts'

for (const client of [anthropicClient, googleClient, openaiClient]) {
  for (const stream of [true, false]) {
    describe(`${client.name}, ${stream ? 'streaming' : 'in one piece'}`, () => speaks(client, stream))
  }
}

function speaks(client: WireClient, stream: boolean): void {
  let server: ModelServer
  before(async () => {
    server = await startModelServer()
  })
  after(() => server.close())

  const tools = Object.values(client.tools)
  const say = (said: TestMessage[], more: Partial<Asking> = {}) =>
    ask(client, server.url, { said, stream, tools, ...more })

  test('a plain text is answered with ok and the text, 10 and 10 tokens', async () => {
    const answer = await say(['hello'])
    assert.deepEqual(
      [answer.status, answer.text, answer.usage, answer.isBroken],
      [200, 'ok: hello', { input: 10, output: 10 }, false],
    )
  })

  test('a long non-ASCII answer arrives complete', async () => {
    const text = 'ä😀 "quoted"\\ '.repeat(400)
    assert.equal((await say([`[[reply:${text}]]`])).text, text)
  })

  test('an empty reply is an empty answer', async () => {
    assert.equal((await say(['[[reply:]]'])).text, '')
  })

  test('echo, len, system, images and model return what was received', async () => {
    assert.equal((await say(['one\n[[echo]]'])).text, 'one\n((echo))')
    assert.equal((await say(['four [[len]]'])).text, 'len=12')
    assert.equal((await say(['[[system]]'], { system: 'be brief' })).text, 'be brief')
    assert.equal((await say([{ text: '[[images]]', images: 2 }])).text, 'images=2')
    assert.match((await say(['[[model]]'])).text, /^(claude|gemini|gpt)-test$/)
  })

  test('recall searches only earlier turns', async () => {
    assert.equal((await say(['the word is blue', 'ok', '[[recall:blue]]'])).text, 'recall=yes')
    assert.equal((await say(['hello', 'the word is blue', '[[recall:blue]]'])).text, 'recall=yes')
    assert.equal((await say(['hello', 'ok', 'blue [[recall:blue]]'])).text, 'recall=no')
    assert.equal((await say(['[[recall:blue]]'], { system: 'blue' })).text, 'recall=no')
  })

  test('directives of earlier turns have no effect', async () => {
    assert.equal((await say(['[[fail]]', 'an error', 'hello'])).text, 'ok: hello')
  })

  test('usage is reported as scripted', async () => {
    assert.deepEqual((await say(['[[usage:1200,34]]'])).usage, { input: 1200, output: 34 })
  })

  test('pad lengthens the answer by the given number', async () => {
    assert.equal((await say(['[[reply:a]] [[pad:5000]]'])).text, `a ${'x'.repeat(5000)}`)
  })

  test('a tool is called with the names and fields of the provider', async () => {
    const answer = await say(['[[tool:Bash:echo "hi"]] [[usage:7,8]]'])
    const field = client.name === 'openai' ? 'cmd' : 'command'
    assert.equal(answer.toolCall?.name, client.tools.Bash)
    assert.equal(objectOf(answer.toolCall?.input)[field], 'echo "hi"')
    assert.equal(answer.text, '')
  })

  test('Write is translated too', async () => {
    const answer = await say(['[[tool:Write:{"file_path":"/a","content":"x"}]]'])
    assert.equal(answer.toolCall?.name, client.tools.Write)
    const patch = { input: '*** Begin Patch\n*** Add File: /a\n+x\n*** End Patch\n' }
    assert.deepEqual(
      answer.toolCall?.input,
      client.name === 'openai' ? patch : { file_path: '/a', content: 'x' },
    )
  })

  test('a tool that is not offered is answered by its name', async () => {
    assert.equal((await say(['[[tool:Bash:ls]]'], { tools: [] })).text, 'no-tool: Bash')
    assert.equal((await say(['[[tool:Missing:{}]]'])).text, 'no-tool: Missing')
  })

  test('a tool result is returned as the answer unless other directives apply', async () => {
    const result = { toolResult: 'out [[fail]]' }
    assert.equal((await say(['[[tool:Bash:ls]]', '', result])).text, 'tool-result: out ((fail))')
    assert.equal((await say(['[[tool:Bash:ls]] [[reply:done]]', '', result])).text, 'done')
  })

  const errors: [directive: string, status: number][] = [
    ['[[fail]]', 400],
    ['[[fail:404]]', 404],
    ['[[fail:500]]', 500],
    ['[[fail:429]]', 429],
    ['[[ratelimit]]', 429],
    ['[[autherror]]', 401],
    ['[[overloaded]]', client.overloadStatus],
  ]
  for (const [directive, status] of errors) {
    test(`${directive} returns ${status} in the provider's format, without retry`, async () => {
      const answer = await say([directive])
      assert.equal(answer.status, status)
      assert.match(answer.error?.message ?? '', /^scripted /)
      assert.equal(answer.headers.get('x-should-retry'), 'false')
      assert.equal(answer.headers.get('retry-after'), directive === '[[ratelimit]]' ? '1' : null)
    })
  }

  test('fail-first fails the first N requests with the key', async () => {
    const text = `[[fail-first:${client.name}-${stream}:2]] [[reply:fine]]`
    const statuses = []
    for (let time = 0; time < 3; time += 1) statuses.push((await say([text])).status)
    assert.deepEqual(statuses, [client.failFirstStatus, client.failFirstStatus, 200])
    assert.equal((await say([text])).text, 'fine')
  })

  test('cut ends the answer in the middle', async () => {
    const answer = await say(['[[reply:a longer answer to be cut]] [[cut]]'])
    assert.equal(answer.status, 200)
    assert.equal(answer.isBroken, true)
    if (stream) assert.match('a longer answer to be cut', new RegExp(`^${answer.text}.+`))
    if (stream) assert.notEqual(answer.text, '')
    const tool = await say(['[[cut]] [[tool:Bash:echo a long enough command]]'])
    assert.equal(tool.isBroken, true)
  })

  test('sleep delays the first byte', async () => {
    const start = performance.now()
    assert.equal((await say(['[[sleep:0.2]] [[reply:late]]'])).text, 'late')
    assert.ok(performance.now() - start >= 195)
    assert.equal((await say(['[[sleep:0.01]] [[fail:500]]'])).status, 500)
  })

  if (stream) {
    test('drip delays the pieces', async () => {
      const answer = await say(['[[drip:30]] [[reply:four by four chars]]'])
      assert.equal(answer.text, 'four by four chars')
      assert.ok(answer.spreadMs >= 4 * 30 - 20, `pieces within ${answer.spreadMs} ms`)
    })
  }

  test("a missing key returns 401 in the provider's format", async () => {
    const response = await fetch(server.url + client.path(stream), {
      method: 'POST',
      body: JSON.stringify(client.body({ said: ['hello'], stream })),
    })
    const body = (await response.json()) as { error: { message: string } }
    assert.deepEqual([response.status, body.error.message], [401, 'no API key was sent'])
  })

  test('an invalid body returns 400', async () => {
    for (const body of [
      '',
      'not json',
      '[]',
      'null',
      '7',
      '{}',
      '{"model":"m","messages":7,"contents":"x","input":7}',
    ]) {
      const response = await fetch(server.url + client.path(stream), {
        method: 'POST',
        headers: client.keyHeaders('k'),
        body,
      })
      const answer = (await response.json()) as { error: { message: string } }
      assert.equal(response.status, 400, body)
      assert.notEqual(answer.error.message, '', body)
    }
  })

  test('the log has the key, the model, the directives and the kind main', async () => {
    await ask(client, server.url, { said: ['logged [[reply:x]] [[pad:1]]'], stream }, 'key-for-the-log')
    const logged = await server.waitForRequest((request) => request.key === 'key-for-the-log')
    const { time: _, ended: __, ...rest } = logged
    const kinds = { anthropic: 'x-api-key', google: 'x-goog-api-key', openai: 'bearer' } as const
    assert.deepEqual(rest, {
      provider: client.name,
      method: 'POST',
      path: client.path(stream),
      model: (await say(['[[model]]'])).text,
      key_kind: kinds[client.name],
      key: 'key-for-the-log',
      keys: { [kinds[client.name]]: 'key-for-the-log' },
      status: 200,
      kind: 'main',
      directives: ['reply', 'pad'],
      user_text: 'logged [[reply:x]] [[pad:1]]',
    })
  })
}
