/** Uploads of any file: on the Files tab and with a message, also over a connection that breaks. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeTab, saveScreenshot } from './bench.ts'
import { button, item, name, setUpFiles } from './files-setup.ts'

const { bench, put, read, inside, open } = setUpFiles()
const partBytes = 2 * 1024 * 1024
const uploadRequests = '**/files/upload?*'

/** Bytes that are no text, and differ at every place that a part could be lost. */
const bytesOf = (length: number) =>
  Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 31 + at / 977) % 256))
const sumOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const sumInside = async (path: string) => (await inside(`sha256sum '${path}'`)).slice(0, 64)
const offered = (file: string, buffer: Buffer, mimeType = 'application/octet-stream') => ({
  name: file,
  mimeType,
  buffer,
})
const chooser = (page: Page) => page.getByLabel('Files to upload', { exact: true })
const uploads = (page: Page) => page.getByRole('region', { name: 'Uploads', exact: true })
const row = (page: Page, path: string) => uploads(page).getByRole('listitem').filter({ hasText: path })
const uploaded = (page: Page, path: string) =>
  row(page, path).getByText('Uploaded', { exact: true }).waitFor()

async function drop(page: Page, folder: string, file: string, text: string): Promise<void> {
  await item(page, folder).evaluate(
    (target, [named, content]) => {
      const data = new DataTransfer()
      data.items.add(new File([content], named))
      target.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }))
    },
    [file, text] as const,
  )
}

describe('the Files tab', () => {
  test('uploads any file by menu, drop and paste', async () => {
    const tab = await open('docs/')
    const { page } = tab
    const bytes = bytesOf(300_000)
    const choosing = page.waitForEvent('filechooser')
    await button(page, 'Upload').click()
    await page.getByRole('menuitem', { name: 'Files' }).click()
    await (await choosing).setFiles([offered('report.bin', bytes)])
    await uploaded(page, 'docs/report.bin')
    await item(page, 'report.bin').waitFor()
    assert.equal(await sumInside('docs/report.bin'), sumOf(bytes))

    await drop(page, 'src', 'dropped.dat', 'by drop')
    await uploaded(page, 'src/dropped.dat')
    assert.equal((await read('src/dropped.dat')).text, 'by drop')

    await page.evaluate(() => {
      const data = new DataTransfer()
      data.items.add(new File(['by paste'], 'pasted.dat'))
      document.body.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, clipboardData: data }))
    })
    await uploaded(page, 'docs/pasted.dat')
    assert.equal((await read('docs/pasted.dat')).text, 'by paste')
    await assertAccessible(tab, 'uploads')
    await saveScreenshot(tab, 'files-uploads-light-desktop')
    await button(page, 'Close uploads').click()
    await uploads(page).waitFor({ state: 'detached' })
    await closeTab(tab)
  })

  test('uploads a folder with its folders', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-upload-'))
    await mkdir(join(folder, 'photos', 'deep'), { recursive: true })
    await writeFile(join(folder, 'photos', 'one.dat'), 'one')
    await writeFile(join(folder, 'photos', 'deep', 'two.dat'), 'two')
    const tab = await open()
    const { page } = tab
    await page.getByLabel('Folder to upload', { exact: true }).setInputFiles(join(folder, 'photos'))
    await uploads(page).getByText('2 of 2 uploaded', { exact: true }).waitFor()
    await item(page, 'photos').waitFor()
    assert.equal((await read('photos/one.dat')).text, 'one')
    assert.equal((await read('photos/deep/two.dat')).text, 'two')
    await closeTab(tab)
    await rm(folder, { recursive: true })
  })

  test('asks once about existing names: skip, keep both or replace', async () => {
    await put('asked/a.txt', 'first')
    const tab = await open('asked/')
    const { page } = tab
    const question = page.getByRole('dialog', { name: 'Replace existing files?' })
    for (const [choice, expected] of [
      ['Skip', { 'a.txt': 'first' }],
      ['Keep both', { 'a.txt': 'first', 'a-1.txt': 'Keep both' }],
      ['Replace', { 'a.txt': 'Replace', 'a-1.txt': 'Keep both' }],
    ] as const) {
      await chooser(page).setInputFiles([
        offered('a.txt', Buffer.from(choice)),
        offered(`${choice}.txt`, Buffer.from('new')),
      ])
      await question.getByText('These files already exist: a.txt.', { exact: true }).waitFor()
      await question.getByRole('button', { name: choice, exact: true }).click()
      await item(page, `${choice}.txt`).waitFor()
      await uploads(page)
        .getByText(/^(\d+) of \1 uploaded$/)
        .waitFor()
      for (const [file, text] of Object.entries(expected))
        assert.equal((await read(`asked/${file}`)).text, text, `${choice}: ${file}`)
    }
    await closeTab(tab)
  })

  test('resumes after a lost connection with the right bytes', async () => {
    const tab = await open()
    const { page } = tab
    const offsets: number[] = []
    let losses = 1
    await page.route(uploadRequests, (route) => {
      const offset = Number(new URL(route.request().url()).searchParams.get('offset'))
      offsets.push(offset)
      if (offset === 0 || losses === 0) return route.continue()
      losses -= 1
      return route.abort('connectionreset')
    })
    const bytes = bytesOf(2 * partBytes + 12_345)
    await chooser(page).setInputFiles([offered('long.bin', bytes)])
    await uploaded(page, 'long.bin')
    assert.deepEqual(offsets, [0, partBytes, partBytes, 2 * partBytes])
    assert.equal(await sumInside('long.bin'), sumOf(bytes))
    await closeTab(tab)
  })

  test('a cancelled upload leaves no file, and Retry continues it', async () => {
    const tab = await open()
    const { page } = tab
    const held = Promise.withResolvers<void>()
    await page.route(uploadRequests, async (route) => {
      if (new URL(route.request().url()).searchParams.get('offset') !== '0') await held.promise
      // The page may have cancelled the request meanwhile.
      await route.continue().catch(() => {})
    })
    const bytes = bytesOf(partBytes + 1)
    await chooser(page).setInputFiles([offered('cancelled.bin', bytes)])
    const bar = uploads(page).getByRole('progressbar', { name: 'Upload of cancelled.bin' })
    await bar.and(page.locator('[aria-valuenow]:not([aria-valuenow="0"])')).waitFor()
    await button(page, 'Cancel upload of cancelled.bin').click()
    await row(page, 'cancelled.bin').getByText('Cancelled', { exact: true }).waitFor()
    assert.equal((await read('cancelled.bin')).status, 404)
    held.resolve()
    await button(page, 'Retry upload of cancelled.bin').click()
    await uploaded(page, 'cancelled.bin')
    assert.equal(await sumInside('cancelled.bin'), sumOf(bytes))
    await closeTab(tab)
  })

  test('says what it refuses, before it sends anything', async () => {
    const tab = await open()
    const { page } = tab
    await chooser(page).setInputFiles([offered('.env', Buffer.from('KEY=1'))])
    await page.getByText('“.env” is protected and cannot be uploaded.').first().waitFor()
    assert.deepEqual(
      tab.requests.filter((request) => request.startsWith('PUT')),
      [],
    )
    await closeTab(tab)
  })

  test('names a binary file by type, replaces and moves it', async () => {
    await inside(`mkdir -p papers && printf '%%PDF\\0\\1' > papers/plan.pdf`)
    const tab = await open('papers/plan.pdf')
    const { page } = tab
    await page.getByText('PDF document, 6 B. No preview is available.', { exact: true }).waitFor()
    const bytes = bytesOf(2000)
    const choosing = page.waitForEvent('filechooser')
    await button(page, 'Replace…').click()
    await (await choosing).setFiles([offered('another name.pdf', bytes)])
    await uploaded(page, 'papers/plan.pdf')
    await page.getByText('PDF document, 2 KB. No preview is available.', { exact: true }).waitFor()
    assert.equal(await sumInside('papers/plan.pdf'), sumOf(bytes))

    await put('papers/taken.pdf', 'taken')
    await page.getByRole('button', { name: 'Actions for “plan.pdf”' }).click()
    await page.getByRole('menuitem', { name: 'Move or rename…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Move or rename “plan.pdf”' })
    await dialog.getByLabel('New path').fill('papers/taken.pdf')
    await dialog.getByRole('button', { name: 'Move', exact: true }).click()
    await dialog.getByText('An entry with this path already exists.').waitFor()
    await assertAccessible(tab, 'move dialog')
    await dialog.getByLabel('New path').fill('papers/2026/plan.pdf')
    await dialog.getByRole('button', { name: 'Move', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await item(page, '2026').waitFor()
    assert.equal(await sumInside('papers/2026/plan.pdf'), sumOf(bytes))
    assert.equal((await read('papers/plan.pdf')).status, 404)
    await closeTab(tab)
  })
})

describe('a message', () => {
  test('takes a PDF, which goes to the workspace and is named to the agent', async () => {
    const tab = await bench().open()
    const { page } = tab
    await tab.goto(`/agents/${name}?tab=chat&session=new`)
    const composer = page.getByRole('textbox', { name: `Message to ${name}` })
    const bytes = Buffer.concat([Buffer.from('%PDF-1.7\0'), bytesOf(5000)])
    await page.getByTestId('attachments').setInputFiles([offered('offer.pdf', bytes, 'application/pdf')])
    const chips = page.getByRole('list', { name: 'Files for the workspace' })
    await chips.getByText('Goes to uploads/ in the workspace.').waitFor()
    await assertAccessible(tab, 'a file for the workspace')
    assert.deepEqual(
      tab.requests.filter((request) => request.startsWith('PUT')),
      [],
    )
    await composer.fill('Sum up the offer. [[reply:done with it]]')
    await composer.press('Enter')
    const messages = page.getByRole('region', { name: 'Messages' })
    await messages.getByText('done with it', { exact: true }).waitFor()
    await messages.getByText('- uploads/offer.pdf').waitFor()
    await chips.waitFor({ state: 'detached' })
    assert.equal(await sumInside('uploads/offer.pdf'), sumOf(bytes))
    await closeTab(tab)
  })

  test('is kept when an upload fails, and sent after Retry', async () => {
    const tab = await bench().open()
    const { page } = tab
    await tab.goto(`/agents/${name}?tab=chat&session=new`)
    const composer = page.getByRole('textbox', { name: `Message to ${name}` })
    const full = { detail: 'The disk quota is used up.', error: 'disk_quota_reached' }
    await page.route(uploadRequests, (route) => route.fulfill({ status: 409, json: full }), { times: 1 })
    await page.getByTestId('attachments').setInputFiles([offered('notes.docx', bytesOf(700))])
    await composer.fill('Read the notes. [[reply:read them]]')
    await composer.press('Enter')
    await uploads(page).getByText('Failed at 0%. The disk quota is used up.').waitFor()
    assert.equal(await composer.inputValue(), 'Read the notes. [[reply:read them]]')
    await composer.press('Enter')
    const messages = page.getByRole('region', { name: 'Messages' })
    await messages.getByText('- uploads/notes.docx').waitFor()
    assert.equal(await sumInside('uploads/notes.docx'), sumOf(bytesOf(700)))
    await closeTab(tab)
  })
})
