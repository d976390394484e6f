import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, type TestContext, test } from 'node:test'
import { startModelServer } from '../index.ts'
import { objectOf, textOf } from '../json.ts'
import { binary, cliPath, makePlace, parseLine, RED_DOT, whyNoCli } from '../testing/cli-process.ts'
import { cliSuite } from '../testing/cli-suite.ts'
import { CLAUDE_OPTIONS, claudeEnvironment, openClaude } from '../testing/clis.ts'

cliSuite({
  name: 'claude',
  open: openClaude,
  keyKind: 'x-api-key',
  instructions: 'CLAUDE.md',
  models: ['claude-sonnet-5'],
})

describe('one live process of claude', { skip: whyNoCli('claude') }, () => {
  test('an interrupted sleep also ends at the server and has no effect on the next turn', async (context) => {
    const { server, say, send } = await openLive(context)
    assert.equal(await say('hello'), 'ok: hello')
    const interrupted = say('[[sleep:600]] one')
    const logged = await server.waitForRequest((request) => request.user_text === '[[sleep:600]] one')
    send({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } })
    assert.equal(await interrupted, '')
    await server.waitForRequest((request) => request === logged && request.ended === 'client_gone')
    assert.equal(await say('two'), 'ok: two')
  })

  test('an interrupted tool has no effect on the next turn', async (context) => {
    const { server, say, send, waitForLine } = await openLive(context)
    const interrupted = say(
      `[[tool:Bash:${process.execPath} -e "setTimeout(Boolean, 600000)"]] [[reply:ran]]`,
    )
    await waitForLine((line) => line.type === 'assistant' && JSON.stringify(line).includes('tool_use'))
    send({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } })
    assert.equal(await interrupted, '')
    assert.equal(await say('two'), 'ok: two')
    assert.equal(server.requests.filter((request) => request.directives.includes('tool')).length, 1)
  })

  test('a failed turn with an image has no effect on the next', async (context) => {
    const { say } = await openLive(context)
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: RED_DOT } }
    await say([{ type: 'text', text: '[[fail:500]] one' }, image])
    assert.equal(await say([image, { type: 'text', text: 'two' }]), 'ok: two')
    assert.equal(await say([{ type: 'text', text: '[[images]]' }, image, image]), 'images=2')
  })

  test('a compaction is a side request, and the next turn is scripted again', async (context) => {
    const { server, say } = await openLive(context)
    await say('hello [[reply:hi]]')
    await say('/compact')
    const sides = server.requests.filter((request) => request.kind === 'side')
    assert.equal(sides.length, 1)
    assert.equal(await say('[[reply:after]]'), 'after')
  })
})

/** Starts one claude process that exchanges JSON lines; it ends with the test. */
async function openLive(context: TestContext) {
  const server = await startModelServer()
  const place = await makePlace()
  const child = spawn(binary('claude'), CLAUDE_OPTIONS, {
    cwd: place.workspace,
    env: { PATH: cliPath(), ...claudeEnvironment({ url: server.url, key: 'k', home: place.home }) },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  context.after(async () => {
    child.kill('SIGKILL')
    await exit
    await place.close()
    await server.close()
  })
  const lines = createInterface(child.stdout)

  const send = (line: unknown) => child.stdin.write(`${JSON.stringify(line)}\n`)

  async function waitForLine(
    isIt: (line: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown>> {
    return new Promise((resolve) => {
      const look = (text: string) => {
        const line = objectOf(parseLine(text)[0])
        if (!isIt(line)) return
        lines.off('line', look)
        resolve(line)
      }
      lines.on('line', look)
    })
  }

  /** Sends a message and returns the text of the turn's result. */
  async function say(content: unknown): Promise<string> {
    const result = waitForLine((line) => line.type === 'result')
    send({ type: 'user', message: { role: 'user', content } })
    return textOf((await result).result)
  }

  return { server, send, say, waitForLine }
}
