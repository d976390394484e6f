import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type ModelServer, startModelServer } from '../index.ts'
import type { KeyKind, SeenRequest } from '../log.ts'
import { type Cli, type CliPrompt, type OpenCli, whyNoCli } from './cli-process.ts'

export type CliFacts = {
  name: string
  open: OpenCli
  keyKind: KeyKind
  /** The file with the project's instructions for the CLI. */
  instructions: string
  /** Models that get different tools from the CLI; the first is the default. */
  models: string[]
}

/** Tests for each real CLI against the scripted model server. Skipped when the CLI is not installed. */
export function cliSuite({ name, open, keyKind, instructions, models }: CliFacts): void {
  describe(`${name} at the scripted model server`, { skip: whyNoCli(name) }, () => {
    let server: ModelServer
    let cli: Cli
    before(async () => {
      server = await startModelServer()
      cli = await open({ url: server.url, key: KEY })
    })
    after(async () => {
      await cli?.close()
      await server?.close()
    })

    /** Answers a prompt in a new conversation and returns its main requests. */
    async function ask(text: string, more: Partial<CliPrompt> = {}) {
      const fresh = await open({ url: server.url, key: KEY })
      const before = server.requests.length
      try {
        const answer = await fresh.ask({ text, model: models[0], ...more })
        return { ...answer, cli: fresh, requests: mainRequests(server.requests.slice(before)) }
      } finally {
        await fresh.close()
      }
    }

    test('a plain prompt is answered with one request and the configured key', async () => {
      const { text, isError, requests } = await ask('hello there')
      assert.deepEqual([text, isError], ['ok: hello there', false])
      assert.equal(requests.length, 1)
      assert.deepEqual(
        [requests[0]?.key_kind, requests[0]?.key, requests[0]?.model],
        [keyKind, KEY, models[0]],
      )
      assert.deepEqual(requests[0]?.keys, { [keyKind]: KEY })
    })

    test('lines before and after the directives have no effect', async () => {
      const { text } = await ask('# Task\n[[fail]]\nplease [[reply:all fine]] thanks\n\nBe kind.')
      assert.equal(text, 'all fine')
    })

    test('a directive in the project’s instructions has no effect', async () => {
      const project = await open({ url: server.url, key: KEY })
      await project.write(instructions, 'Be kind.\n[[fail:500]]\n')
      const { text } = await project.ask({ text: 'hello', model: models[0] })
      assert.equal(text, 'ok: hello')
      await project.close()
    })

    for (const model of models) {
      test(`a command runs and its output comes back, as ${model}`, async () => {
        const { text, isError, requests } = await ask('[[tool:Bash:echo $HOME-marker-$LANG]]', { model })
        assert.equal(isError, false)
        assert.match(text, /^tool-result: [\s\S]*-marker-C\.UTF-8/)
        assert.equal(requests.length, 2)
      })

      test(`a file is written, then the rest is answered, as ${model}`, async () => {
        const written = { file_path: cli.path(`${model}.txt`), content: 'one\n"two" [[three\n' }
        const text = `[[tool:Write:${JSON.stringify(written)}]] [[reply:written]]`
        const answer = await cli.ask({ text, model })
        assert.deepEqual([answer.text.split('\n').at(-1), answer.isError], ['written', false])
        assert.equal(await cli.read(`${model}.txt`), written.content)
        await cli.close()
        cli = await open({ url: server.url, key: KEY })
      })
    }

    test('tools are called one after another', async () => {
      const { text, requests } = await ask('[[tool:Bash:echo first]] [[tool:Bash:echo second]]')
      assert.match(text, /^tool-result: [\s\S]*second/)
      assert.equal(requests.length, 3)
    })

    for (const [directive, status] of [
      ['[[fail:500]]', 500],
      ['[[fail:429]]', 429],
      ['[[ratelimit]]', 429],
      ['[[autherror]]', 401],
    ] as const) {
      test(`${directive} fails the turn after one request`, async () => {
        const { isError, requests } = await ask(directive)
        assert.equal(isError, true)
        assert.deepEqual(
          requests.map((request) => request.status),
          [status],
        )
      })
    }

    // `claude` immediately retries a 400 in another way, `gemini` an overload.
    for (const directive of ['[[fail]]', '[[overloaded]]']) {
      test(`${directive} fails the turn`, async () => {
        const { isError, requests } = await ask(directive)
        assert.equal(isError, true)
        assert.ok(requests.every((request) => request.status >= 400))
      })
    }

    test('[[fail-first]] fails the first turn but not the next', async () => {
      const text = `[[fail-first:${name}:1]] [[reply:second time]]`
      assert.equal((await ask(text)).isError, true)
      assert.equal((await ask(text)).text, 'second time')
    })

    test('[[cut]] fails the turn in the middle of the answer', async () => {
      const { isError, requests } = await ask('[[cut]] [[reply:an answer to be broken off]]', {
        isTriedOnce: true,
      })
      assert.equal(isError, true)
      assert.ok(requests.every((request) => request.ended === 'cut'))
    })

    test('[[drip]] delays the answer but delivers it completely', async () => {
      const start = performance.now()
      assert.equal((await ask('[[drip:100]] [[reply:twenty characters, ok]]')).text, 'twenty characters, ok')
      assert.ok(performance.now() - start >= 500)
    })

    test('[[recall]] shows whether a resumed conversation is sent again', async () => {
      const conversation = await open({ url: server.url, key: KEY })
      const say = async (text: string, isResumed = true) =>
        (await conversation.ask({ text, isResumed, model: models[0] })).text
      assert.equal(await say('the word is zebra', false), 'ok: the word is zebra')
      assert.equal(await say('[[recall:zebra]]'), 'recall=yes')
      assert.equal(await say('[[recall:giraffe]]'), 'recall=no')
      await conversation.close()
    })

    test('a failed turn has no effect on the next', async () => {
      const conversation = await open({ url: server.url, key: KEY })
      const say = (text: string, isResumed = true) => conversation.ask({ text, isResumed, model: models[0] })
      await say('hello', false)
      assert.equal((await say('[[fail]]')).isError, true)
      assert.equal((await say('plain again')).text, 'ok: plain again')
      await conversation.close()
    })

    test('[[images]] counts the image of the prompt', async () => {
      assert.equal((await ask('[[images]]', { withImage: true })).text, 'images=1')
      assert.equal((await ask('[[images]]')).text, 'images=0')
    })

    test('[[system]] is the CLI’s own prompt', async () => {
      assert.match((await ask('[[system]]')).text, /(Claude|Gemini|CLI|Codex)/)
    })
  })
}

const KEY = 'key-of-the-test'

function mainRequests(requests: readonly SeenRequest[]): SeenRequest[] {
  return requests.filter((request) => request.kind === 'main')
}
