/** Files of a real agent: browsed, edited and saved, including hostile names. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually } from '../acceptance/platform.ts'
import { answerOf, createAgent, docker } from '../acceptance/steps.ts'
import { assertAccessible, type Bench, openBench, reviewPage, saveScreenshot, type Tab } from './bench.ts'
import { reportFailure } from './evidence.ts'
import { focusOn } from './focus.ts'

const name = 'qa-files-page'
const files = `/api/agents/${name}/files`
let bench: Bench
before(async () => {
  bench = await openBench()
  await createAgent(bench.platform, name)
  await answerOf(bench.platform, name, '[[reply:ready]]')
  await seed()
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC'
const hostile = '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 2">'

/** Writes files as the agent does. */
const inside = (script: string) =>
  docker(
    'exec',
    '-u',
    'developer',
    '-w',
    '/home/developer',
    bench.platform.containerOf(name),
    'sh',
    '-c',
    script,
  )

async function seed(): Promise<void> {
  await put(
    'docs/guide.md',
    '# Guide\n\nSome **bold** words, `code` and a list:\n\n- one\n- two\n\n```ts\nconst a = 1\n```\n',
  )
  await put('docs/data.json', '{"name":"scout","runs":[1,2,3]}')
  await put('src/main.ts', 'export function main(): number {\n  return 42\n}\n')
  await put('notes.txt', 'first line\nsecond line\n')
  await put('hostile/page.html', `<!doctype html><body>${hostile}</body>`)
  await put(
    'hostile/drawing.svg',
    `<svg xmlns="http://www.w3.org/2000/svg" onload="window.harmed = 3">${hostile}</svg>`,
  )
  await put(
    'hostile/text.md',
    `${hostile}\n\n[click](javascript:window.harmed=4) ![x](https://example.com/x.png)\n`,
  )
  await put('names/<img src=x onerror=alert(1)>.txt', 'a tag')
  await put('names/a b%2F.md', 'an encoded slash')
  await put('names/exe.\u202etxt', 'turned around')
  await put('names/...hidden', 'dots')
  await put('names/" onclick="x', 'quotes')
  await put('names/?a=b&c#d', 'an address')
  await inside(
    'mkdir -p many empty pics && cd many && for i in $(seq 1 1000); do echo $i > file-$i.txt; done',
  )
  await inside(
    `echo ${pixel} | base64 -d > pics/dot.png; head -c 3000 /dev/urandom > pics/blob.bin; printf 'no picture' > pics/broken.png`,
  )
  await inside(`printf 'SECRET=hush\\n' > .env`)
}

async function put(path: string, content: string): Promise<void> {
  const reply = await bench.platform.request('PUT', `${files}?path=${encodeURIComponent(path)}`, { content })
  assert.equal(reply.status, 200, reply.text)
}
const read = (path: string) =>
  bench.platform.request('GET', `${files}/download?path=${encodeURIComponent(path)}`)

async function open(path = '', options: Parameters<Bench['open']>[0] = {}): Promise<Tab> {
  const tab = await bench.open(options)
  const query = path === '' ? '' : `&path=${encodeURIComponent(JSON.stringify(path))}`
  await tab.goto(`/agents/${name}?tab=files${query}`)
  await header(tab.page).waitFor()
  return tab
}
const header = (page: Page) => page.getByRole('navigation', { name: 'Path' })
const tree = (page: Page) => page.getByRole('tree', { name: `Files of ${name}` })
const item = (page: Page, label: string) => tree(page).getByRole('treeitem', { name: label, exact: true })
const editor = (page: Page, file: string) => page.getByRole('textbox', { name: `Text of ${file}` })
const button = (page: Page, label: string) => page.getByRole('button', { name: label, exact: true })
/** Moves the keyboard focus into the text. */
async function edit(page: Page, file: string): Promise<void> {
  await button(page, 'Edit').click()
  await focusOn(editor(page, file))
}
const closeTab = async ({ faults, context }: Tab) => {
  assert.deepEqual(faults, [])
  await context.close()
}

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
    await page.getByRole('link', { name: 'Logs' }).click()
    await dialog.getByRole('button', { name: 'Discard changes' }).click()
    await page.getByRole('group', { name: `Log of ${name}` }).waitFor()
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
    await page.getByRole('link', { name: 'Info' }).click()
    await eventually(
      () => read('made/by hand.md'),
      ({ status }) => status === 404,
    )
    await page.getByRole('link', { name: 'Files' }).click()
    await item(page, 'made').click()
    await page.getByRole('button', { name: 'Actions for “made”' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByLabel('Type made to confirm').fill('made')
    await button(page, 'Delete folder').click()
    await item(page, 'made').waitFor({ state: 'detached' })
    assert.equal((await read('made')).status, 404)
    await closeTab(tab)
  })

  test('uploads text files, refuses others, and confirms replacements', async () => {
    const tab = await open('docs/')
    const { page } = tab
    const input = page.getByLabel('Text files to upload')
    const offered = (file: string, text: string | Buffer) => ({
      name: file,
      mimeType: '',
      buffer: Buffer.from(text),
    })
    await input.setInputFiles([offered('up.txt', 'new'), offered('pic.png', Buffer.from(pixel, 'base64'))])
    await page.getByText('is not UTF-8 text').first().waitFor()
    await item(page, 'up.txt').waitFor()
    await input.setInputFiles([offered('up.txt', 'newer')])
    await page.getByRole('dialog', { name: 'Replace existing files?' }).waitFor()
    assert.equal((await read('docs/up.txt')).text, 'new')
    const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
    await button(page, 'Replace').click()
    assert.equal((await saved).status(), 200)
    assert.equal((await read('docs/up.txt')).text, 'newer')
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
      bench.platform,
      name,
      '[[tool:Bash:echo hi > /home/developer/from-the-run.md]] [[reply:done]]',
    )
    await item(tab.page, 'from-the-run.md').waitFor()
    await closeTab(tab)
  })
})

describe('kinds of files', () => {
  test('shows images, but no files with a false image type', async () => {
    const tab = await open('pics/dot.png')
    const { page } = tab
    await page.getByText('10 × 10 pixels').waitFor()
    assert.match((await page.getByRole('img', { name: 'dot.png' }).getAttribute('src')) ?? '', /^blob:/)
    await item(page, 'broken.png').click()
    await page.getByText('broken.png is not a valid image').waitFor()
    await item(page, 'blob.bin').click()
    await page.getByText('blob.bin is not text').waitFor()
    await button(page, 'Download').waitFor()
    await closeTab(tab)
  })

  test('hostile HTML, SVG and Markdown are shown as text', async () => {
    const tab = await open('hostile/page.html')
    const { page } = tab
    await editor(page, 'page.html').getByText('window.harmed = 1').waitFor()
    await item(page, 'drawing.svg').click()
    await editor(page, 'drawing.svg').getByText('onload').waitFor()
    await item(page, 'text.md').click()
    await page.getByText('click').waitFor()
    assert.equal(await page.evaluate('window.harmed'), undefined)
    // The agent's avatar is in the header.
    const active = 'main iframe, main object, main embed, main script, main img:not(header img)'
    assert.equal(await page.locator(active).count(), 0)
    await closeTab(tab)
  })

  test('hostile names are shown as text', async () => {
    const tab = await open('names/')
    const { page } = tab
    await page.getByRole('button', { name: 'Show hidden files' }).click()
    const shown = [
      '<img src=x onerror=alert(1)>.txt',
      'a b%2F.md',
      'exe.⟨U+202E⟩txt',
      '...hidden',
      '" onclick="x',
      '?a=b&c#d',
    ]
    const contents = ['a tag', 'an encoded slash', 'turned around', 'dots', 'quotes', 'an address']
    for (const [index, label] of shown.entries()) {
      await item(page, label).click()
      await page
        .getByText(contents[index] ?? '', { exact: true })
        .first()
        .waitFor()
      await page.reload()
      await page
        .getByText(contents[index] ?? '', { exact: true })
        .first()
        .waitFor()
    }
    assert.equal(await page.evaluate('window.harmed'), undefined)
    await closeTab(tab)
  })

  test('the owner can read a protected file and sees why it is read-only', async () => {
    const tab = await open('.env')
    const { page } = tab
    await editor(page, '.env').getByText('hush').waitFor()
    await page.getByText('It can be viewed but not edited').waitFor()
    assert.equal(await button(page, 'Edit').count(), 0)
    await page.getByRole('button', { name: 'Actions for “.env”' }).click()
    assert.ok(await page.getByRole('menuitem', { name: /Delete/ }).isDisabled())
    await closeTab(tab)
  })
})

describe('the tree', () => {
  test('renders few rows of 1,000 files and reaches the last with one key', async () => {
    const tab = await open('many/')
    const { page } = tab
    await item(page, 'file-1.txt').waitFor()
    assert.ok((await tree(page).getByRole('treeitem').count()) < 70)
    assert.ok((await page.getByRole('row').count()) < 70)
    await tree(page).focus()
    await page.keyboard.type('file-99')
    const active = await tree(page).getAttribute('aria-activedescendant')
    assert.match((await page.locator(`[id="${active}"]`).textContent()) ?? '', /^file-99/)
    await page.keyboard.press('End')
    await page.keyboard.press('Home')
    await assertAccessible(tab, 'many files')
    await closeTab(tab)
  })

  test('works with the keyboard alone: arrows, letters, Enter', async () => {
    const tab = await open()
    const { page } = tab
    await item(page, 'docs').waitFor()
    await tree(page).focus()
    const activeText = async () => {
      const id = await tree(page).getAttribute('aria-activedescendant')
      return (await page.locator(`[id="${id}"]`).textContent()) ?? ''
    }
    await page.keyboard.press('Home')
    await page.keyboard.type('do')
    assert.equal(await activeText(), 'docs')
    await page.keyboard.press('ArrowRight')
    await item(page, 'guide.md').waitFor()
    await page.keyboard.press('ArrowRight')
    assert.equal(await activeText(), 'data.json')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Guide', exact: true }).waitFor()
    assert.equal(await item(page, 'guide.md').getAttribute('aria-selected'), 'true')
    await page.keyboard.press('ArrowLeft')
    assert.equal(await activeText(), 'docs')
    await page.keyboard.press('ArrowLeft')
    await item(page, 'guide.md').waitFor({ state: 'detached' })
    assert.equal(await item(page, 'docs').getAttribute('aria-expanded'), 'false')
    await closeTab(tab)
  })
})

describe('screenshots', () => {
  const at = (path: string) => `/agents/${name}?tab=files&path=${encodeURIComponent(path)}`
  test('folders, texts, images and empty folders in both themes and widths', async () => {
    await reviewPage(bench, {
      name: 'files-folder',
      path: `/agents/${name}?tab=files`,
      ready: (page) => page.getByRole('row', { name: /notes.txt/ }).waitFor(),
    })
    await reviewPage(bench, {
      name: 'files-markdown',
      path: at('docs/guide.md'),
      ready: (page) => page.getByRole('heading', { name: 'Guide', exact: true }).waitFor(),
    })
    await reviewPage(bench, {
      name: 'files-edit',
      path: at('src/main.ts'),
      ready: async (page) => {
        await edit(page, 'main.ts')
        await page.keyboard.type('// ')
        await page.getByText('Unsaved changes').waitFor()
      },
    })
    await reviewPage(bench, {
      name: 'files-image',
      path: at('pics/dot.png'),
      ready: (page) => page.getByText('10 × 10').waitFor(),
    })
    await reviewPage(bench, {
      name: 'files-protected',
      path: at('.env'),
      ready: (page) => page.getByText('It can be viewed but not edited').waitFor(),
    })
    await reviewPage(bench, {
      name: 'files-empty',
      path: at('empty/'),
      ready: (page) => page.getByText('This folder is empty').waitFor(),
    })
  })

  test('a stopped agent is shown as stopped; starting it shows its files', async () => {
    assert.equal((await bench.platform.request('POST', `/api/agents/${name}/stop`)).status, 200)
    await reviewPage(bench, {
      name: 'files-stopped',
      path: `/agents/${name}?tab=files`,
      ready: (page) => page.getByText('Start the agent to view and edit its files').waitFor(),
    })
    const tab = await bench.open()
    await tab.goto(`/agents/${name}?tab=files`)
    await button(tab.page, 'Start').click()
    await item(tab.page, 'notes.txt').waitFor()
    await saveScreenshot(tab, 'files-started')
    await closeTab(tab)
  })
})
