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
  type Said,
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
  const say = (said: Said[], more: Partial<Asking> = {}) =>
    ask(client, server.url, { said, stream, tools, ...more })

  test('a plain text is answered with ok and itself, 10 and 10 tokens', async () => {
    const heard = await say(['hello'])
    assert.deepEqual(
      [heard.status, heard.text, heard.usage, heard.isBroken],
      [200, 'ok: hello', { input: 10, output: 10 }, false],
    )
  })

  test('the text of the answer arrives whole, also when it is long and not ASCII', async () => {
    const text = 'ä😀 "quoted"\\ '.repeat(400)
    assert.equal((await say([`[[reply:${text}]]`])).text, text)
  })

  test('an empty reply is an empty answer', async () => {
    assert.equal((await say(['[[reply:]]'])).text, '')
  })

  test('echo, len, system, images and model say what was received', async () => {
    assert.equal((await say(['one\n[[echo]]'])).text, 'one\n((echo))')
    assert.equal((await say(['four [[len]]'])).text, 'len=12')
    assert.equal((await say(['[[system]]'], { system: 'be brief' })).text, 'be brief')
    assert.equal((await say([{ text: '[[images]]', images: 2 }])).text, 'images=2')
    assert.match((await say(['[[model]]'])).text, /^(claude|gemini|gpt)-test$/)
  })

  test('recall looks into earlier turns, and only there', async () => {
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

  test('pad makes the answer as long as wanted', async () => {
    assert.equal((await say(['[[reply:a]] [[pad:5000]]'])).text, `a ${'x'.repeat(5000)}`)
  })

  test('a tool is called in the names and fields of the one who asks', async () => {
    const heard = await say(['[[tool:Bash:echo "hi"]] [[usage:7,8]]'])
    const field = client.name === 'openai' ? 'cmd' : 'command'
    assert.equal(heard.toolCall?.name, client.tools.Bash)
    assert.equal(objectOf(heard.toolCall?.input)[field], 'echo "hi"')
    assert.equal(heard.text, '')
  })

  test('Write is translated as well', async () => {
    const heard = await say(['[[tool:Write:{"file_path":"/a","content":"x"}]]'])
    assert.equal(heard.toolCall?.name, client.tools.Write)
    const patch = { input: '*** Begin Patch\n*** Add File: /a\n+x\n*** End Patch\n' }
    assert.deepEqual(
      heard.toolCall?.input,
      client.name === 'openai' ? patch : { file_path: '/a', content: 'x' },
    )
  })

  test('a tool that is not offered is answered by its name', async () => {
    assert.equal((await say(['[[tool:Bash:ls]]'], { tools: [] })).text, 'no-tool: Bash')
    assert.equal((await say(['[[tool:Missing:{}]]'])).text, 'no-tool: Missing')
  })

  test('the result of a tool comes back as the answer, or the other directives do', async () => {
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
    test(`${status} for ${directive}, in the form of the provider, not to be tried again`, async () => {
      const heard = await say([directive])
      assert.equal(heard.status, status)
      assert.match(heard.error?.message ?? '', /^scripted /)
      assert.equal(heard.headers.get('x-should-retry'), 'false')
      assert.equal(heard.headers.get('retry-after'), directive === '[[ratelimit]]' ? '1' : null)
    })
  }

  test('fail-first fails the first N requests with the key, then no more', async () => {
    const text = `[[fail-first:${client.name}-${stream}:2]] [[reply:fine]]`
    const statuses = []
    for (let time = 0; time < 3; time += 1) statuses.push((await say([text])).status)
    assert.deepEqual(statuses, [client.failFirstStatus, client.failFirstStatus, 200])
    assert.equal((await say([text])).text, 'fine')
  })

  test('cut breaks the answer off in the middle', async () => {
    const heard = await say(['[[reply:a longer answer to be cut]] [[cut]]'])
    assert.equal(heard.status, 200)
    assert.equal(heard.isBroken, true)
    if (stream) assert.match('a longer answer to be cut', new RegExp(`^${heard.text}.+`))
    if (stream) assert.notEqual(heard.text, '')
    const tool = await say(['[[cut]] [[tool:Bash:echo a long enough command]]'])
    assert.equal(tool.isBroken, true)
  })

  test('sleep waits before the first byte', async () => {
    const start = performance.now()
    assert.equal((await say(['[[sleep:0.2]] [[reply:late]]'])).text, 'late')
    assert.ok(performance.now() - start >= 195)
    assert.equal((await say(['[[sleep:0.01]] [[fail:500]]'])).status, 500)
  })

  if (stream) {
    test('drip waits between the pieces', async () => {
      const heard = await say(['[[drip:30]] [[reply:four by four chars]]'])
      assert.equal(heard.text, 'four by four chars')
      assert.ok(heard.spreadMs >= 4 * 30 - 20, `pieces within ${heard.spreadMs} ms`)
    })
  }

  test('401 without a key, in the form of the provider', async () => {
    const response = await fetch(server.url + client.path(stream), {
      method: 'POST',
      body: JSON.stringify(client.body({ said: ['hello'], stream })),
    })
    const body = (await response.json()) as { error: { message: string } }
    assert.deepEqual([response.status, body.error.message], [401, 'no API key was sent'])
  })

  test('400 for a body that is none', async () => {
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

  test('the log has the key, the model, the directives and that it was a main turn', async () => {
    await ask(client, server.url, { said: ['logged [[reply:x]] [[pad:1]]'], stream }, 'key-for-the-log')
    const seen = await server.waitForRequest((request) => request.key === 'key-for-the-log')
    const { time: _, ended: __, ...rest } = seen
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
