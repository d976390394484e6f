import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AgentImages, type AgentRuntime, agentRuntimes } from './port.ts'

export type SuiteOptions = {
  open: () => Promise<AgentImages>
  /** A runtime whose image can be built in this environment. */
  runtime: AgentRuntime
  skip?: string | false
}

/** Tests for every adapter of the port, including the fake. */
export function agentImagesSuite(name: string, { open, runtime, skip = false }: SuiteOptions): void {
  describe(`agent images: ${name}`, { skip }, () => {
    test('each runtime has its own image and a version of 12 hexadecimal digits', async () => {
      const images = await open()
      const tags = agentRuntimes.map((each) => images.tagFor(each))
      assert.equal(new Set(tags.map(({ image }) => image)).size, agentRuntimes.length)
      for (const { version } of tags) assert.match(version, /^[0-9a-f]{12}$/)
    })

    test('the same source gives the same image', async () => {
      const [first, second] = [await open(), await open()]
      assert.deepEqual(first.tagFor(runtime), second.tagFor(runtime))
    })

    test('an ensured image is ready and is not built again', async () => {
      const images = await open()
      await images.ensure(runtime, () => {})
      assert.equal(await images.isReady(runtime), true)
      const progress: string[] = []
      await images.ensure(runtime, (text) => progress.push(text))
      assert.deepEqual(progress, [])
    })

    test('three concurrent callers of ensure all find it ready', async () => {
      const images = await open()
      await Promise.all([1, 2, 3].map(() => images.ensure(runtime, () => {})))
      assert.equal(await images.isReady(runtime), true)
    })
  })
}
