import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { assertAccessible, lookAt, presetStorage, type Theme, themes, widths } from './bench.ts'
import { createContextPool } from './contexts.ts'
import { focusOn } from './focus.ts'
import { openGallery } from './gallery.ts'

const parts = ['actions', 'figures', 'form', 'overlays', 'states', 'table'] as const
let gallery: Awaited<ReturnType<typeof openGallery>>
let browser: Browser
let lend: ReturnType<typeof createContextPool>

before(async () => {
  gallery = await openGallery()
  browser = await chromium.launch({
    executablePath: process.env.ROOST_TEST_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  lend = createContextPool(browser, gallery.url)
})
after(async () => {
  await browser?.close()
  await gallery?.[Symbol.asyncDispose]()
})

describe('every component', () => {
  for (const theme of themes) {
    const look = lookAt(theme, widths.desktop) ?? assert.fail(`nothing to look at: ${theme}`)
    for (const part of parts) {
      it(`${part}, ${theme}: no axe violations and no policy violations`, async () => {
        await using tab = await open(part, { theme })
        if (part === 'states' || part === 'figures')
          await tab.page.locator('.recharts-surface').nth(1).waitFor()
        await assertAccessible(tab, `${part}, ${theme}`, look)
        assert.deepEqual(tab.faults, [])
      })
    }
    it(`open layers, ${theme}: no axe violations and no policy violations`, async () => {
      await using tab = await open('overlays', { theme })
      const { page } = tab
      for (const name of ['dialog', 'sheet', 'confirmation', 'popover']) {
        await page.getByRole('button', { name: `Open ${name}` }).click()
        await page.getByRole('dialog').waitFor()
        await assertAccessible(tab, `${name}, ${theme}`, look)
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      await page.getByRole('button', { name: 'Delete with undo' }).click()
      await page.getByText('Schedule deleted').first().waitFor()
      await assertAccessible(tab, `toast, ${theme}`, look)
      await page.getByRole('button', { name: 'Open secret' }).click()
      await page.getByRole('dialog', { name: 'New key' }).waitFor()
      await assertAccessible(tab, `secret, ${theme}`, look)
      assert.deepEqual(tab.faults, [])
    })
    it(`open choices, ${theme}: no axe violations and no policy violations`, async () => {
      await using tab = await open('form', { theme })
      await assertAccessible(tab, `form, ${theme}`, look)
      await tab.page.getByLabel('Runtime').click()
      await tab.page.getByRole('option', { name: 'Codex' }).waitFor()
      assert.deepEqual(await findingsWithin(tab.page, '[role=listbox]'), [])
      await tab.page.keyboard.press('Escape')
      await tab.page.getByRole('listbox').waitFor({ state: 'detached' })
      await tab.page.getByLabel('Time zone').click()
      await tab.page.getByRole('option').first().waitFor()
      await assertAccessible(tab, `combobox, ${theme}`, look)
      assert.deepEqual(tab.faults, [])
    })
  }
  it('menus: no axe violations and no policy violations', async () => {
    await using tab = await open('actions')
    await assertAccessible(tab, 'actions')
    await tab.page.getByRole('button', { name: 'More' }).click()
    await tab.page.getByRole('menu').waitFor()
    assert.deepEqual(await findingsWithin(tab.page, '[role=menu]'), [])
    assert.deepEqual(tab.faults, [])
  })
  for (const part of parts) {
    it(`${part}: fits a phone without sideways scrolling`, async () => {
      await using tab = await open(part, { width: widths.phone })
      assert.equal(await tab.page.evaluate('document.documentElement.scrollWidth'), widths.phone)
    })
  }
})

describe('charts of a new agent', () => {
  const chart = (page: Page, label: string) => page.locator('figure').filter({ hasText: label })
  const ticks = async (page: Page, label: string) => {
    const labels = chart(page, label).locator('.recharts-yAxis-tick-labels text')
    await labels.nth(3).waitFor()
    return labels.allTextContents()
  }

  it('have equally spaced ticks up to just above the highest value', async () => {
    await using tab = await open('figures')
    assert.deepEqual(await ticks(tab.page, 'Runs per day'), ['0', '10', '20', '30'])
    assert.deepEqual(await ticks(tab.page, 'Cost per day'), ['$0.00', '$0.10', '$0.20', '$0.30'])
    assert.deepEqual(await ticks(tab.page, 'Average duration per day'), ['0 ms', '15 s', '30 s', '45 s'])
  })

  it('show the only known value of a line as a dot', async () => {
    await using tab = await open('figures')
    await chart(tab.page, 'Average duration per day').locator('circle').waitFor()
    assert.equal(await chart(tab.page, 'Average duration per day').locator('circle').count(), 1)
  })
})

it('a relative time that changes is never in the future', async () => {
  await using tab = await open('figures')
  const { page } = tab
  const time = page.locator('p', { hasText: 'Last run:' }).locator('time')
  await time.getByText('3 min ago').waitFor()
  const later = await page.evaluate(() => Date.now() + 29_000)
  await page.clock.setFixedTime(later)
  await page.getByRole('button', { name: 'Run now' }).click()
  await time.getByText('just now').waitFor()
})

it('a long diff keeps colours and line numbers on all its pages', async () => {
  await using tab = await open('figures')
  const { page } = tab
  const diff = page.getByRole('group', { name: 'Code, changes.diff' })
  for (const pages of [1, 2, 3, 4]) {
    await diff
      .locator('pre > div')
      .nth(pages * 500 - 1)
      .waitFor()
    await page.getByRole('button', { name: /^Show \d+ more of/ }).click()
  }
  const last = diff.locator('pre > div').nth(2399)
  await last.waitFor()
  const look = await last.evaluate((row) => ({
    numbers: [...row.querySelectorAll('[data-line]')].map((each) => each.getAttribute('data-line')),
    colour: getComputedStyle(row).backgroundColor,
  }))
  assert.deepEqual(look.numbers, ['', '1200'])
  assert.notEqual(look.colour, 'rgba(0, 0, 0, 0)')
})

it('the stop icon is filled, so it is no empty checkbox', async () => {
  await using tab = await open('actions')
  const fill = await tab.page
    .getByRole('button', { name: 'Stop', exact: true })
    .locator('svg')
    .evaluate((icon) => getComputedStyle(icon).fill)
  assert.notEqual(fill, 'none')
})

describe('a data table of 10,000 rows', () => {
  it('renders fewer than 60 rows at any scroll position', async () => {
    await using tab = await open('table')
    const grid = tab.page.getByRole('grid', { name: 'Executions' })
    assert.equal(await grid.getAttribute('aria-rowcount'), '10001')
    for (const top of [0, 123_456, 399_000]) {
      await scrollTo(grid, top)
      const place = Math.floor(top / 40)
      await grid.locator(`tr[aria-rowindex="${place + 4}"]`).waitFor()
      assert.ok((await grid.locator('tr').count()) < 60)
    }
  })

  it('supports moving, opening and selecting by keyboard', async () => {
    await using tab = await open('table')
    const { page } = tab
    const facts = page.getByTestId('table-facts')
    // The rows are one tab stop, directly after the column menu.
    await page.getByRole('button', { name: 'Columns' }).focus()
    await page.keyboard.press('Tab')
    await focusedRow(page, 0)
    for (const key of ['j', 'ArrowDown', 'j', 'k']) await page.keyboard.press(key)
    await focusedRow(page, 2)
    await page.keyboard.press('Enter')
    await facts.getByText('opened run-2,').waitFor()
    await page.keyboard.press('Space')
    await facts.getByText('selected 1,').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Shift+Space')
    await facts.getByText('selected 3,').waitFor()
    await page.keyboard.press('End')
    await focusedRow(page, 9999)
    await facts.getByText('endings 1').waitFor()
    await page.keyboard.press('Home')
    await focusedRow(page, 0)
  })

  it('keeps the focused row rendered while it is scrolled away', async () => {
    await using tab = await open('table')
    const grid = tab.page.getByRole('grid', { name: 'Executions' })
    await tab.page.locator('tr[data-index="3"]').focus()
    await scrollTo(grid, 200_000)
    await grid.locator('tr[data-index="5002"]').waitFor()
    await focusedRow(tab.page, 3)
    await tab.page.keyboard.press('j')
    await focusedRow(tab.page, 4)
  })

  it('sorts by its headers and announces it', async () => {
    await using tab = await open('table')
    const header = tab.page
      .getByRole('grid', { name: 'Executions' })
      .getByRole('columnheader', { name: 'Duration' })
    await header.getByRole('button').click()
    assert.equal(await header.getAttribute('aria-sort'), 'descending')
    await header.getByRole('button').click()
    assert.equal(await header.getAttribute('aria-sort'), 'ascending')
    await tab.page.locator('tr[data-index="0"]').getByText('900 ms').waitFor()
    await header.getByRole('button').click()
    assert.equal(await header.getAttribute('aria-sort'), null)
  })

  it('opens a row in a new tab with the middle button, and in place with a click', async () => {
    await using tab = await open('table')
    const { page } = tab
    for (const target of [
      page.getByRole('link', { name: 'run-1', exact: true }),
      page.locator('tr[data-index="1"] td').nth(3),
    ]) {
      const [popup] = await Promise.all([
        tab.context.waitForEvent('page'),
        target.click({ button: 'middle' }),
      ])
      assert.match(popup.url(), /#run-1$|about:blank/)
      // Chromium may never close a page that has not begun to load.
      await popup.waitForLoadState('domcontentloaded')
      await popup.close()
    }
    await page.locator('tr[data-index="4"] td').nth(3).click()
    await page.getByTestId('table-facts').getByText('opened run-4,').waitFor()
  })

  it('shows the chosen columns', async () => {
    await using tab = await open('table', { width: widths.phone })
    const { page } = tab
    const grid = page.getByRole('grid', { name: 'Executions' })
    assert.equal(await grid.getByRole('columnheader', { name: 'Agent' }).count(), 0)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Agent' }).click()
    await grid.getByRole('columnheader', { name: 'Agent' }).waitFor()
    await page.getByRole('menuitem', { name: 'Reset' }).click()
    await grid.getByRole('columnheader', { name: 'Agent' }).waitFor({ state: 'detached' })
  })
})

describe('a form', () => {
  it("validates with the server's schema before sending", async () => {
    await using tab = await open('form')
    const { page } = tab
    await page.getByLabel('Name').fill('ab')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Name must have at least three letters.').waitFor()
    assert.equal(await page.getByLabel('Name').getAttribute('aria-invalid'), 'true')
    await page.getByLabel('Name').fill('scout')
    await page.getByRole('button', { name: 'Save' }).click()
    const saved = '{"name":"scout","about":null,"runtime":"claude","timeoutSeconds":600,"autonomous":false}'
    await page.getByTestId('saved').getByText(saved).waitFor()
  })

  it('shows server errors at the fields they name, others above the buttons', async () => {
    await using tab = await open('form')
    const { page } = tab
    const name = page.getByLabel('Name')
    await name.fill('taken')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Name is in use.').waitFor()
    const described = await name.getAttribute('aria-describedby')
    assert.equal(await page.locator(`[id="${described}"]`).innerText(), 'Name is in use.')
    await focusOn(name)
    assert.match(await page.getByRole('alert').innerText(), /channels\.0 is unknown\.\s+validation_error/)
    await name.fill('broken')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('internal_error, request req-42').waitFor()
    assert.equal(await page.getByText('is in use').count(), 0)
  })
})

describe('a dialog', () => {
  it('focuses its first field, traps the focus and returns it', async () => {
    await using tab = await open('overlays')
    const { page } = tab
    const opener = page.getByRole('button', { name: 'Open dialog' })
    await opener.focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New schedule' })
    await focusOn(dialog.getByLabel('Cron expression'))
    for (let presses = 0; presses < 6; presses++) {
      await page.keyboard.press('Tab')
      await dialog.locator(':focus').waitFor()
    }
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await focusOn(opener)
  })

  it("opened from a menu returns the focus to the menu's button", async () => {
    await using tab = await open('overlays')
    const { page } = tab
    const more = page.getByRole('button', { name: 'More' })
    await more.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Rename' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New schedule' })
    await dialog.waitFor()
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await more.and(page.locator(':focus')).waitFor()
  })

  it('confirms only after the full text is typed', async () => {
    await using tab = await open('overlays')
    const { page } = tab
    await page.getByRole('button', { name: 'Open confirmation' }).click()
    const confirm = page.getByRole('button', { name: 'Delete agent' })
    await page.locator('[role=dialog] input:focus').waitFor()
    await page.keyboard.type('night-watc')
    assert.equal(await confirm.isDisabled(), true)
    await page.keyboard.type('h')
    await confirm.and(page.locator(':enabled')).waitFor()
    await page.keyboard.press('Enter')
    await confirm.waitFor({ state: 'detached' })
  })

  it('shows a secret until the user confirms that it is stored', async () => {
    await using tab = await open('overlays')
    const { page } = tab
    await page.getByRole('button', { name: 'Open secret' }).click()
    const dialog = page.getByRole('dialog', { name: 'New key' })
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    assert.equal(await dialog.isVisible(), true)
    await dialog.getByRole('button', { name: 'Copy API key' }).click()
    await dialog.getByText('Copied').first().waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Done' }).isDisabled(), true)
    await dialog.getByLabel('I have stored it').click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
  })
})

it('a toast can be undone by keyboard', async () => {
  await using tab = await open('overlays')
  const { page } = tab
  await page.getByRole('button', { name: 'Delete with undo' }).click()
  await page.getByRole('button', { name: 'Undo', exact: true }).waitFor()
  await page.keyboard.press('F8')
  await page.getByRole('button', { name: 'Undo', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Schedule restored').first().waitFor()
})

it('a combobox filters while typing', async () => {
  await using tab = await open('form')
  const { page } = tab
  await page.getByLabel('Time zone').click()
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('berl')
  await page.getByRole('option').nth(1).waitFor({ state: 'detached' })
  await page.keyboard.press('Enter')
  await page.getByRole('combobox', { name: 'Time zone' }).getByText('Europe/Berlin').waitFor()
})

async function scrollTo(grid: Locator, top: number): Promise<void> {
  await grid.evaluate((table, to) => table.parentElement?.scrollTo(0, to), top)
}

/** For layers outside of the page's landmarks: an open list, an open menu. */
async function findingsWithin(page: Page, selector: string): Promise<string[]> {
  return page.evaluate(async (within) => {
    // Added when the whole page was checked.
    const { axe } = window as unknown as { axe: typeof import('axe-core') }
    const { violations } = await axe.run(within)
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)
  }, selector)
}

async function focusedRow(page: Page, index: number): Promise<void> {
  await page.locator(`tr[data-index="${index}"]:focus`).waitFor()
}

async function open(
  part: string,
  { theme = 'light', width = widths.desktop }: { theme?: Theme; width?: number } = {},
) {
  const { page, context, release } = await lend({
    reducedMotion: 'reduce',
    permissions: ['clipboard-write'],
  })
  await page.setViewportSize({ width, height: width < 600 ? 740 : 860 })
  page.setDefaultTimeout(120_000)
  await presetStorage(page, 'roost.messages', 'longest')
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text())
  })
  // Some libraries catch what the policy refuses, which causes only this event.
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`refused by the policy: ${event.violatedDirective} ${event.blockedURI}`)
    })
  })
  await page.goto(`${gallery.url}?part=${part}&theme=${theme}`)
  await page.getByRole('heading', { name: 'Components' }).waitFor({ state: 'attached' })
  return { page, context, faults, [Symbol.asyncDispose]: release }
}
