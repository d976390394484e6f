/** The files tab of one agent, for the test files that use it. */
import assert from 'node:assert/strict'
import { after, afterEach, before } from 'node:test'
import type { Page } from 'playwright-core'
import { answerOf, createAgent, docker } from '../acceptance/steps.ts'
import { type Bench, openBench, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { focusOn } from './focus.ts'

export const name = 'qa-files-page'
/** A PNG of 10 × 10 pixels, in base64. */
export const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC'

export const header = (page: Page) => page.getByRole('navigation', { name: 'Path' })
export const tree = (page: Page) => page.getByRole('tree', { name: `Files of ${name}` })
export const item = (page: Page, label: string) =>
  tree(page).getByRole('treeitem', { name: label, exact: true })
export const editor = (page: Page, file: string) => page.getByRole('textbox', { name: `Text of ${file}` })
export const button = (page: Page, label: string) => page.getByRole('button', { name: label, exact: true })
/** Moves the keyboard focus into the text. */
export async function edit(page: Page, file: string): Promise<void> {
  await button(page, 'Edit').click()
  await focusOn(editor(page, file))
}

/**
 * Starts a platform with the agent and its files before the tests of a file, and stops it after them. `addFiles` adds
 * files that only some tests need: a second hook would not wait for this one.
 */
export function setUpFiles(addFiles = async () => {}) {
  let bench: Bench
  before(async () => {
    bench = await openBench()
    await createAgent(bench.platform, name)
    await answerOf(bench.platform, name, '[[reply:ready]]')
    await put(
      'docs/guide.md',
      '# Guide\n\nSome **bold** words, `code` and a list:\n\n- one\n- two\n\n```ts\nconst a = 1\n```\n',
    )
    await put('docs/data.json', '{"name":"scout","runs":[1,2,3]}')
    await put('src/main.ts', 'export function main(): number {\n  return 42\n}\n')
    await put('notes.txt', 'first line\nsecond line\n')
    await addFiles()
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  const files = `/api/agents/${name}/files`
  async function put(path: string, content: string): Promise<void> {
    const reply = await bench.platform.request('PUT', `${files}?path=${encodeURIComponent(path)}`, {
      content,
    })
    assert.equal(reply.status, 200, reply.text)
  }

  return {
    bench: () => bench,
    put,
    read: (path: string) =>
      bench.platform.request('GET', `${files}/download?path=${encodeURIComponent(path)}`),
    /** Writes files as the agent does. */
    inside(script: string): Promise<string> {
      const container = bench.platform.containerOf(name)
      return docker('exec', '-u', 'developer', '-w', '/home/developer', container, 'sh', '-c', script)
    },
    async open(path = '', options: Parameters<Bench['open']>[0] = {}): Promise<Tab> {
      const tab = await bench.open(options)
      const query = path === '' ? '' : `&path=${encodeURIComponent(JSON.stringify(path))}`
      await tab.goto(`/agents/${name}?tab=files${query}`)
      await header(tab.page).waitFor()
      return tab
    },
  }
}
