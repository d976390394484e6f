/** Files as the page shows them: hostile content and names, the tree, and screenshots. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertAccessible, closeTab, reviewPage, saveScreenshot } from './bench.ts'
import { button, edit, editor, item, name, pixel, setUpFiles, tree } from './files-setup.ts'

const { bench, put, inside, open } = setUpFiles(addFiles)
const hostile = '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 2">'

async function addFiles(): Promise<void> {
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
    await reviewPage(bench(), {
      name: 'files-folder',
      path: `/agents/${name}?tab=files`,
      ready: (page) => page.getByRole('row', { name: /notes.txt/ }).waitFor(),
    })
    await reviewPage(bench(), {
      name: 'files-markdown',
      path: at('docs/guide.md'),
      ready: (page) => page.getByRole('heading', { name: 'Guide', exact: true }).waitFor(),
    })
    await reviewPage(bench(), {
      name: 'files-edit',
      path: at('src/main.ts'),
      ready: async (page) => {
        await edit(page, 'main.ts')
        await page.keyboard.type('// ')
        await page.getByText('Unsaved changes').waitFor()
      },
    })
    await reviewPage(bench(), {
      name: 'files-image',
      path: at('pics/dot.png'),
      ready: (page) => page.getByText('10 × 10').waitFor(),
    })
    await reviewPage(bench(), {
      name: 'files-protected',
      path: at('.env'),
      ready: (page) => page.getByText('It can be viewed but not edited').waitFor(),
    })
    await reviewPage(bench(), {
      name: 'files-empty',
      path: at('empty/'),
      ready: (page) => page.getByText('This folder is empty').waitFor(),
    })
  })

  test('a stopped agent is shown as stopped; starting it shows its files', async () => {
    assert.equal((await bench().platform.request('POST', `/api/agents/${name}/stop`)).status, 200)
    await reviewPage(bench(), {
      name: 'files-stopped',
      path: `/agents/${name}?tab=files`,
      ready: (page) => page.getByText('Start the agent to view and edit its files').waitFor(),
    })
    const tab = await bench().open()
    await tab.goto(`/agents/${name}?tab=files`)
    await button(tab.page, 'Start').click()
    await item(tab.page, 'notes.txt').waitFor()
    await saveScreenshot(tab, 'files-started')
    await closeTab(tab)
  })
})
