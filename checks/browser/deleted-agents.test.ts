/** Runs of deleted agents. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createAgent, isOver, untilExecution } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, openBench, saveScreenshot } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-deleted'
let bench: Bench
before(async () => {
  bench = await openBench()
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

test("a deleted agent's runs open from the list, also when another agent has its name", async () => {
  const { platform } = bench
  await createAgent(platform, name)
  const path = `/api/agents/${name}`
  const message = 'Kept beyond its agent [[tool:Bash:echo kept]] [[reply:still here]]'
  const { json } = await platform.request('POST', `${path}/task`, { message, async_mode: true })
  await untilExecution(platform, name, json.execution_id, isOver)
  assert.equal((await platform.request('DELETE', path)).status, 200)
  await createAgent(platform, name)

  const tab = await bench.open()
  const { page } = tab
  const bash = page.getByRole('list', { name: 'Steps' }).getByRole('button', { name: /^Bash/ })
  await tab.goto('/runs?q=Kept+beyond')
  const runs = page.getByRole('grid', { name: 'Runs' })
  await runs.getByText('deleted', { exact: true }).waitFor()
  await runs.getByRole('row').nth(1).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.pathname === `/executions/${json.execution_id}`)
  await page.getByRole('heading', { name: 'Answer' }).waitFor()
  await page.getByText(`${name} (deleted)`).waitFor()
  await bash.waitFor()
  await page.reload()
  await bash.waitFor()
  const facts = page.getByRole('complementary', { name: 'About this run' })
  assert.equal(await facts.locator(`a[href*="/agents/${name}"]`).count(), 0)
  await assertAccessible(tab, 'a run of a deleted agent')
  await saveScreenshot(tab, 'deleted-agent-run-light-desktop')
  await tab.goto('/executions/unknown')
  await page.getByRole('heading', { name: 'Run not found' }).waitFor()
  await tab.context.close()
})
