import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AgentImages, type AgentRuntime, agentRuntimes } from './port.ts'

export type SuiteOptions = {
  open: () => Promise<AgentImages>
  /** A runtime that can be made here and now. */
  runtime: AgentRuntime
  skip?: string | false
}

/** What every adapter of the port and the fake promise. */
export function agentImagesSuite(name: string, { open, runtime, skip = false }: SuiteOptions): void {
  describe(`agent images: ${name}`, { skip }, () => {
    test('each runtime has an image of its own and a version of 12 hexadecimal digits', async () => {
      const images = await open()
      const tags = agentRuntimes.map((each) => images.tagFor(each))
      assert.equal(new Set(tags.map(({ image }) => image)).size, agentRuntimes.length)
      for (const { version } of tags) assert.match(version, /^[0-9a-f]{12}$/)
    })

    test('the same source gives the same image', async () => {
      const [first, second] = [await open(), await open()]
      assert.deepEqual(first.tagFor(runtime), second.tagFor(runtime))
    })

    test('what was ensured is ready, and is not made again', async () => {
      const images = await open()
      await images.ensure(runtime, () => {})
      assert.equal(await images.isReady(runtime), true)
      const said: string[] = []
      await images.ensure(runtime, (text) => said.push(text))
      assert.deepEqual(said, [])
    })

    test('three who ensure it at once all find it ready', async () => {
      const images = await open()
      await Promise.all([1, 2, 3].map(() => images.ensure(runtime, () => {})))
      assert.equal(await images.isReady(runtime), true)
    })
  })
}
