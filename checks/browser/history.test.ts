/** What a run changed: on its page, in the panel of a conversation, and in the history of the agent. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../acceptance/platform.ts'
import { chat, createAgent } from '../acceptance/steps.ts'
import { assertAccessible, assertNoSideways, type Bench, closeTab, openBench } from './bench.ts'
import { reportFailure } from './evidence.ts'

const name = 'qa-history'
/** Valid PNGs of one pixel. */
const pixels = [
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC',
]

describe('the history of a workspace', () => {
  let bench: Bench
  let session = ''
  let runId = ''
  before(async () => {
    bench = await openBench()
    const { platform } = bench
    await createAgent(platform, name)
    session = (await platform.request('POST', `/api/agents/${name}/sessions`, {})).json.id
    await say('[[reply:ready]]')
    const put = async (path: string, content: string) => {
      const address = `/api/agents/${name}/files?path=${encodeURIComponent(path)}`
      assert.equal((await platform.request('PUT', address, { content })).status, 200)
    }
    await put('plan.ts', 'const plan = 1\nconst step = 2\n')
    await put('old.md', '# A page that moves\n')
    await put('gone.txt', 'gone\n')
    await put('first.b64', pixels[0] ?? '')
    await put('second.b64', pixels[1] ?? '')
    await say('[[tool:Bash:base64 -d first.b64 > logo.png; head -c 2000 /dev/zero > data.bin]] [[reply:ok]]')
    const script =
      'sed -i s/2/3/ plan.ts; mv old.md new.md; rm gone.txt; base64 -d second.b64 > logo.png; head -c 3000 /dev/zero > data.bin; chmod 700 first.b64'
    runId = await say(`[[tool:Bash:${script}]] [[reply:done]]`)
    await eventually(
      async () => (await platform.request('GET', `/api/executions/${runId}/changes`)).json,
      ({ status }) => status === 'recorded',
    )
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
  })
  afterEach((context) => reportFailure(bench, context))

  /** Runs one turn and returns the id of its run. */
  async function say(message: string): Promise<string> {
    const reply = await chat(bench.platform, name, message, { path: `sessions/${session}/message` })
    assert.equal(reply.status, 200, reply.text)
    return reply.headers.get('x-execution-id') ?? assert.fail('no run')
  }
  const changes = (page: Page) => page.getByRole('region', { name: 'Workspace changes' })
  const file = (page: Page, words: RegExp) => changes(page).getByRole('button', { name: words })

  test('the page of a run lists its changes with diffs, images and sizes', async () => {
    const tab = await bench.open({ width: 1440 })
    const { page } = tab
    await tab.goto(`/agents/${name}/executions/${runId}`)
    await file(page, /^Changed plan\.ts/).click()
    const diff = page.getByRole('group', { name: 'Changes of plan.ts' })
    await diff.getByText('-const step = 2').waitFor()
    await diff.getByText('+const step = 3').waitFor()
    await file(page, /^Renamed old\.md → new\.md/).waitFor()
    await file(page, /^Deleted gone\.txt/).click()
    await page.getByRole('group', { name: 'Changes of gone.txt' }).getByText('-gone').waitFor()
    await file(page, /^Changed logo\.png/).click()
    for (const side of ['Before', 'After']) {
      const image = page.getByRole('img', { name: `${side}: logo.png` })
      await eventually(
        () => image.evaluate((shown) => (shown as HTMLImageElement).naturalWidth),
        (width) => width === 1,
      )
    }
    await file(page, /^Changed data\.bin/).click()
    await changes(page).getByText('Binary file:').waitFor()
    await file(page, /^Permissions first\.b64/).click()
    await changes(page).getByText('Permissions: 644 → 700').waitFor()
    await assertAccessible(tab, 'the changes of a run')
    await page.setViewportSize({ width: 390, height: 844 })
    await assertNoSideways(tab, 'the changes of a run')
    await closeTab(tab)
  })

  test('the owner undoes a run, and undoes that', async () => {
    const read = async (path: string) => {
      const address = `/api/agents/${name}/files/download?path=${encodeURIComponent(path)}`
      return (await bench.platform.request('GET', address)).text
    }
    const tab = await bench.open({ width: 1440 })
    const { page } = tab
    await tab.goto(`/agents/${name}/executions/${runId}`)
    await changes(page).getByRole('button', { name: 'Undo this run' }).click()
    const dialog = page.getByRole('dialog', { name: 'Restore the workspace to before this run' })
    const list = dialog.getByRole('group', { name: 'What the restore changes' })
    await list.getByText('gone.txt', { exact: true }).waitFor()
    await dialog.getByLabel('If runs are working').waitFor()
    await assertAccessible(tab, 'the preview of a restore')
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
    await dialog.getByText('The workspace was restored.').waitFor()
    assert.equal(await read('plan.ts'), 'const plan = 1\nconst step = 2\n')
    assert.equal(await read('gone.txt'), 'gone\n')
    await dialog.getByRole('button', { name: 'Undo this restore' }).click()
    await list.getByText('gone.txt', { exact: true }).waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await assertNoSideways(tab, 'the preview of a restore')
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
    await dialog.getByText('The workspace was restored.').waitFor()
    assert.equal(await read('plan.ts'), 'const plan = 1\nconst step = 3\n')
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await closeTab(tab)
  })

  test('the owner cancels a restore that waits for a run', async () => {
    const working = say('[[hold:cancel]] [[reply:done]]')
    await eventually(
      async () => (await bench.platform.request('GET', `/api/agents/${name}/executions?limit=1`)).text,
      (text) => text.includes('"running"'),
    )
    const tab = await bench.open({ width: 1440 })
    const { page } = tab
    await tab.goto(`/agents/${name}/executions/${runId}`)
    const begin = async () => {
      await changes(page).getByRole('button', { name: 'Undo this run' }).click()
      const dialog = page.getByRole('dialog', { name: 'Restore the workspace to before this run' })
      await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
      await dialog.getByText('Waiting for the runs to end.').waitFor()
      return dialog
    }
    const dialog = await begin()
    await dialog.getByRole('button', { name: 'Cancel restore' }).click()
    await dialog.getByText('The workspace is as it was. The restore was cancelled.').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await begin()
    await tab.goto(`/agents/${name}?tab=history`)
    await page.getByText('A restore is not complete').waitFor()
    await page.getByRole('button', { name: 'Cancel restore' }).click()
    await page.getByText('A restore is not complete').waitFor({ state: 'detached' })
    bench.platform.model.release('cancel')
    await working
    await closeTab(tab)
  })

  test('the panel of a conversation shows the changes of each turn, also by shell commands', async () => {
    const tab = await bench.open({ width: 1440 })
    const { page } = tab
    await tab.goto(`/agents/${name}?tab=chat&session=${session}`)
    await page.getByRole('button', { name: 'Open changes' }).click()
    const lists = page
      .getByRole('complementary', { name: 'Side panel' })
      .getByRole('list', { name: 'Recorded changes' })
    await lists
      .first()
      .getByRole('button', { name: /^Renamed old\.md → new\.md/ })
      .waitFor()
    await lists
      .nth(1)
      .getByRole('button', { name: /^Added logo\.png/ })
      .waitFor()
    await closeTab(tab)
  })

  test('the history lists records with their files, and the owner pins them and sets what is left out', async () => {
    const tab = await bench.open({ width: 1440 })
    const { page } = tab
    await tab.goto(`/agents/${name}?tab=history`)
    const record = page.getByRole('region', { name: /^Record \d+:/ })
    await record.getByRole('list', { name: 'Recorded files' }).getByText('new.md').waitFor()
    await record.getByRole('button', { name: /^Changed plan\.ts/ }).waitFor()
    await record.getByRole('button', { name: 'Pin record', exact: true }).click()
    await record.getByRole('button', { name: 'Unpin record' }).waitFor()
    await page.getByLabel('Excluded names and paths').fill('node_modules\nbuild/../x')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('must be relative').waitFor()
    await page.getByLabel('Excluded names and paths').fill('node_modules\nbuild')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('History settings saved', { exact: true }).waitFor()
    const { json } = await bench.platform.request('GET', `/api/agents/${name}/history/settings`)
    assert.deepEqual(json.rules.patterns, ['node_modules', 'build'])
    await assertAccessible(tab, 'the history of an agent')
    await page.setViewportSize({ width: 390, height: 844 })
    await assertNoSideways(tab, 'the history of an agent')
    await closeTab(tab)
  })

  test('after a lost node, the owner returns to the former workspace or deletes it', async () => {
    const { platform } = bench
    const left = 'qa-left'
    await createAgent(platform, left)
    addFormerWorkspace(join(platform.dataDir, 'roost.db'), left)
    const tab = await bench.open({ width: 1440 })
    const { page } = tab
    await tab.goto(`/agents/${left}?tab=history`)
    const former = page.getByRole('region', { name: 'Former workspaces' })
    await former.getByText('Stop the agent to use it again.').waitFor()
    const use = former.getByRole('button', { name: 'Use again…' })
    assert.equal(await use.isDisabled(), true)
    await assertAccessible(tab, 'a former workspace')
    await page.setViewportSize({ width: 390, height: 844 })
    await assertNoSideways(tab, 'a former workspace')
    await page.setViewportSize({ width: 1440, height: 900 })

    assert.equal((await platform.request('POST', `/api/agents/${left}/stop`)).status, 200)
    await former.getByText('You can use it again.').waitFor()
    await use.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Use again' }).click()
    await page.getByText('The former workspace is in use again', { exact: true }).waitFor()
    assert.equal((await platform.request('POST', `/api/agents/${left}/start`)).status, 200)
    await former.getByText('Stop the agent to use it again.').waitFor()
    await former.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The former workspace is deleted', { exact: true }).waitFor()
    await former.waitFor({ state: 'detached' })
    await closeTab(tab)
  })
})

/** As the loss of a node leaves it, which needs a cluster. */
function addFormerWorkspace(path: string, name: string): void {
  const db = new DatabaseSync(path, { timeout: 5000 })
  db.prepare(
    `insert into agent_former_workspaces
      (id, agent_id, volume_base, engine_id, container_id, has_container, record_id, left_at)
      select 'former', id, 'qa-left-before', engine_id, 'gone', 0, null, ? from agents where name = ?`,
  ).run(new Date(Date.now() - 3_600_000).toISOString(), name)
  db.close()
}
