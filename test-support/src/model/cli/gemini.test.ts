import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startModelServer } from '../index.ts'
import { whyNoCli } from '../testing/cli-process.ts'
import { cliSuite } from '../testing/cli-suite.ts'
import { openGemini } from '../testing/clis.ts'

cliSuite({
  name: 'gemini',
  open: openGemini,
  keyKind: 'x-goog-api-key',
  instructions: 'GEMINI.md',
  models: ['gemini-2.5-pro', 'gemini-3.1-pro-preview'],
})

describe('gemini that chooses its model itself', { skip: whyNoCli('gemini') }, () => {
  test('the classifier’s request is a side request, sent once', async (context) => {
    const server = await startModelServer()
    const cli = await openGemini({ url: server.url, key: 'k' })
    context.after(async () => {
      await cli.close()
      await server.close()
    })
    const { text } = await cli.ask({ text: '[[fail-first:route:0]] [[reply:routed]]', model: 'auto' })
    assert.equal(text, 'routed')
    assert.deepEqual(
      server.requests.map((request) => request.kind),
      ['side', 'main'],
    )
  })
})
