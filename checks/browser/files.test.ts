/** Files of a real agent: read, written and downloaded. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { eventually } from '../acceptance/platform.ts'
import { answerOf } from '../acceptance/steps.ts'
import { assertAccessible, closeTab } from './bench.ts'
import { button, edit, editor, header, item, name, setUpFiles } from './files-setup.ts'
import { focusOn } from './focus.ts'

const { bench, put, read, inside, open } = setUpFiles()

describe('reading and writing', () => {
  test('opens a file from the tree, edits it, and saves it to the container with Ctrl-S', async () => {
    const tab = await open()
    const { page } = tab
    await item(page, 'src').click()
    await item(page, 'main.ts').click()
    await editor(page, 'main.ts').getByText('return').waitFor()
    await edit(page, 'main.ts')
    await page.keyboard.press('Control+End')
    await page.keyboard.type('// by hand')
    await page.getByText('Unsaved changes').waitFor()
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).first().waitFor()
    assert.equal(
      (await read('src/main.ts')).text,
      'export function main(): number {\n  return 42\n}\n// by hand',
    )
    assert.match(await inside('cat src/main.ts'), /by hand$/)
    assert.ok(await button(page, 'Save').isDisabled())
    await button(page, 'Done').click()
    await button(page, 'Edit').waitFor()
    await closeTab(tab)
  })

  test('does not overwrite concurrent changes without confirmation', async () => {
    await put('conflict.txt', 'mine\n')
    const tab = await open('conflict.txt')
    const { page } = tab
    await edit(page, 'conflict.txt')
    await page.keyboard.type('typed ')
    await put('conflict.txt', 'theirs\n')
    await button(page, 'Save').click()
    const dialog = page.getByRole('dialog', { name: /has changed on disk/ })
    await dialog.waitFor()
    await assertAccessible(tab, 'conflict')
    assert.equal((await read('conflict.txt')).text, 'theirs\n')
    await dialog.getByRole('button', { name: 'Overwrite' }).click()
    await page.getByText('Saved', { exact: true }).first().waitFor()
    assert.equal((await read('conflict.txt')).text, 'typed mine\n')
    await closeTab(tab)
  })

  test('confirms leaving unsaved changes', async () => {
    const tab = await open('notes.txt')
    const { page } = tab
    await edit(page, 'notes.txt')
    await page.keyboard.type('lost? ')
    await item(page, 'docs').click()
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await editor(page, 'notes.txt').getByText('lost?').waitFor()
    await page.getByRole('link', { name: 'Automations' }).click()
    await dialog.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('link', { name: 'Loops' }).waitFor()
    assert.equal((await read('notes.txt')).text, 'first line\nsecond line\n')
    await closeTab(tab)
  })

  test('preserves CRLF line endings', async () => {
    await put('dos.txt', 'a\r\nb\r\n')
    const tab = await open('dos.txt')
    const { page } = tab
    await page.getByText('CRLF line endings').waitFor()
    await edit(page, 'dos.txt')
    await page.keyboard.type('x')
    await button(page, 'Save').click()
    await page.getByText('Saved', { exact: true }).first().waitFor()
    assert.equal((await read('dos.txt')).text, 'xa\r\nb\r\n')
    await closeTab(tab)
  })

  test('creates and deletes files and folders; files with Undo', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('button', { name: 'New' }).click()
    await page.getByRole('menuitem', { name: 'File' }).click()
    await page.getByLabel('Name', { exact: true }).fill('.env')
    await button(page, 'Create').click()
    await page.getByText('This name is reserved').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('made/by hand.md')
    await button(page, 'Create').click()
    await focusOn(editor(page, 'by hand.md'))
    await page.keyboard.type('hello')
    await page.keyboard.press('Control+s')
    await page.getByText('Saved', { exact: true }).first().waitFor()
    assert.equal((await read('made/by hand.md')).text, 'hello')
    await page.getByRole('button', { name: 'Actions for “by hand.md”' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByText('File deleted').first().waitFor()
    await item(page, 'by hand.md').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await item(page, 'by hand.md').waitFor()
    assert.equal((await read('made/by hand.md')).status, 200)
    await item(page, 'by hand.md').click()
    await page.getByRole('button', { name: 'Actions for “by hand.md”' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    // Leaving the page ends the time for Undo.
    await page.getByRole('link', { name: 'Automations' }).click()
    await eventually(
      () => read('made/by hand.md'),
      ({ status }) => status === 404,
    )
    await page.getByRole('link', { name: 'Files & tools' }).click()
    await item(page, 'made').click()
    await page.getByRole('button', { name: 'Actions for “made”' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByLabel('Type made to confirm').fill('made')
    await button(page, 'Delete folder').click()
    await item(page, 'made').waitFor({ state: 'detached' })
    assert.equal((await read('made')).status, 404)
    await closeTab(tab)
  })

  test('downloads a file and a folder', async () => {
    const tab = await open('docs/guide.md')
    const { page } = tab
    const take = async (label: string) => {
      const downloading = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: label }).click()
      const download = await downloading
      return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
    }
    await page.getByRole('button', { name: 'Actions for “guide.md”' }).click()
    const file = await take('Download')
    assert.equal(file.name, 'guide.md')
    assert.match(file.bytes.toString(), /^# Guide/)
    await header(page).getByRole('link', { name: 'docs' }).click()
    await page.getByRole('button', { name: 'Actions for “docs”' }).click()
    const folder = await take('Download as tar.gz')
    assert.equal(folder.name, 'docs.tar.gz')
    assert.deepEqual([...folder.bytes.subarray(0, 2)], [0x1f, 0x8b])
    await closeTab(tab)
  })

  test('shows files of a run when it ends', async () => {
    const tab = await open()
    await item(tab.page, 'notes.txt').waitFor()
    await answerOf(
      bench().platform,
      name,
      '[[tool:Bash:echo hi > /home/developer/from-the-run.md]] [[reply:done]]',
    )
    await item(tab.page, 'from-the-run.md').waitFor()
    await closeTab(tab)
  })
})
