/** The chat tab around its turns: attachments, keyboard, drafts, scrolling and the list of conversations. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAgent } from '../acceptance/steps.ts'
import { composer, copyAnswer, messages, name, path, sendMessage, setUpChat, turn } from './chat-setup.ts'
import { focusOn } from './focus.ts'

const { bench, openChat, newSession, sayBefore } = setUpChat()

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

describe('attachments', () => {
  test('reach the model', async () => {
    const tab = await openChat()
    const chooser = tab.page.waitForEvent('filechooser')
    await tab.page.getByRole('button', { name: 'Attach files' }).click()
    await (await chooser).setFiles([
      { name: 'one.png', mimeType: 'image/png', buffer: png },
      { name: 'two.png', mimeType: 'image/png', buffer: png },
    ])
    await tab.page.getByRole('list', { name: 'Files to send' }).getByText('two.png').waitFor()
    await sendMessage(tab, '[[images]]')
    await messages(tab.page).getByText('images=2', { exact: true }).waitFor()
    assert.equal(await turn(tab.page).getByRole('img', { name: 'one.png' }).count(), 1)
    await tab.context.close()
  })

  test('that do not fit go to the workspace, and empty ones are refused by name', async () => {
    const tab = await openChat()
    const files = tab.page.getByTestId('attachments')
    await files.setInputFiles([
      { name: 'run.exe', mimeType: 'application/x-msdownload', buffer: Buffer.from('MZ') },
      { name: 'big.txt', mimeType: 'text/plain', buffer: Buffer.alloc(5 * 1024 * 1024 + 1, 'a') },
      { name: 'empty.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
      { name: 'fine.txt', mimeType: 'text/plain', buffer: Buffer.from('fine') },
    ])
    await tab.page.getByRole('alert').getByText('“empty.txt” is empty.').waitFor()
    const forWorkspace = tab.page.getByRole('list', { name: 'Files for the workspace' })
    assert.match(
      await forWorkspace.innerText(),
      /run\.exe\s+2 B\. Goes to uploads\/ in the workspace\.[\s\S]*big\.txt\s+5 MB\./,
    )
    const chips = tab.page.getByRole('list', { name: 'Files to send' })
    assert.equal(await chips.getByRole('listitem').count(), 1)
    await tab.page.getByRole('button', { name: 'Remove fine.txt' }).click()
    await chips.waitFor({ state: 'detached' })
    await tab.page.getByRole('button', { name: 'Remove run.exe' }).click()
    assert.equal(await forWorkspace.getByRole('listitem').count(), 1)
    await tab.context.close()
  })

  test('can be pasted and dropped', async () => {
    const tab = await openChat()
    for (const kind of ['paste', 'drop'] as const) {
      await composer(tab.page).evaluate(
        (field, { type, bytes }) => {
          const data = new DataTransfer()
          data.items.add(new File([new Uint8Array(bytes)], `${type}.png`, { type: 'image/png' }))
          const options = { bubbles: true, cancelable: true }
          field.dispatchEvent(
            type === 'paste'
              ? new ClipboardEvent('paste', { ...options, clipboardData: data })
              : new DragEvent('drop', { ...options, dataTransfer: data }),
          )
        },
        { type: kind, bytes: [...png] },
      )
      await tab.page.getByText(`${kind}.png`).waitFor()
    }
    await tab.context.close()
  })
})

describe('the page', () => {
  test('works with the keyboard alone', async () => {
    const tab = await openChat()
    const { page } = tab
    await page.getByRole('heading', { name }).waitFor()
    await composer(page).press('Escape')
    await page.keyboard.press('/')
    await focusOn(composer(page))
    await page.keyboard.type('one')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('two [[len]]')
    assert.equal(await composer(page).inputValue(), 'one\ntwo [[len]]')
    await page.keyboard.press('Enter')
    await messages(page)
      .getByText(/^len=\d+$/)
      .waitFor()
    await copyAnswer(turn(page)).focus()
    // "Ask again", "Branch from here" and the link to the run are in between.
    for (let stop = 0; stop < 4; stop += 1) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await turn(page).getByText('The agent answered directly').waitFor()
    await tab.context.close()
  })

  test('a button reached by keyboard keeps the focus when the composer appears', async () => {
    const tab = await bench().open()
    const { page } = tab
    const answers = Promise.withResolvers<void>()
    await page.route('**/sessions?*', async (route) => {
      await answers.promise
      await route.continue()
    })
    await tab.goto(path('new'))
    await page.getByRole('status', { name: 'Loading conversations' }).waitFor()
    const stop = page.getByRole('button', { name: 'Stop agent' })
    await stop.focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Shift+Tab')
    await focusOn(stop)
    answers.resolve()
    await composer(page).waitFor()
    // The composer's effects run after the frame that shows it.
    await page.evaluate(async () => {
      for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame)
    })
    assert.equal(await stop.and(page.locator(':focus')).count(), 1, 'the composer took the focus')
    await tab.context.close()
  })

  test('a new conversation focuses the composer, also when begun by keyboard', async () => {
    const tab = await openChat({}, await newSession())
    const { page } = tab
    const link = page.getByRole('link', { name: 'New conversation', exact: true })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/session=new/)
    await focusOn(composer(page))
    await tab.context.close()
  })

  test('keeps a draft of each conversation through a reload', async () => {
    const [first, second] = [await newSession(), await newSession()]
    const tab = await openChat({}, first)
    await composer(tab.page).fill('half a thought')
    await tab.goto(path(second))
    await composer(tab.page).waitFor()
    assert.equal(await composer(tab.page).inputValue(), '')
    await tab.goto(path(first))
    await composer(tab.page).waitFor()
    assert.equal(await composer(tab.page).inputValue(), 'half a thought')
    await tab.context.close()
  })

  test('follows the end only while scrolled to it', async () => {
    const session = await newSession()
    for (let count = 0; count < 3; count += 1) await sayBefore(session, `[[reply:${'word '.repeat(700)}]]`)
    const tab = await openChat({}, session)
    const list = messages(tab.page)
    const fromEnd = () =>
      list.evaluate((box) => Math.round(box.scrollHeight - box.clientHeight - box.scrollTop))
    await copyAnswer(turn(tab.page, 2)).waitFor()
    assert.ok((await fromEnd()) < 50, 'opens at the end')
    await sendMessage(tab, `[[drip:400]] [[reply:${'more '.repeat(100)}]]`)
    await list
      .locator('p', { hasText: /^more more/ })
      .first()
      .waitFor()
    await list.hover()
    await tab.page.mouse.wheel(0, -700)
    await tab.page.getByRole('button', { name: 'New messages' }).waitFor()
    await copyAnswer(turn(tab.page, 3)).waitFor({ state: 'attached' })
    assert.ok((await fromEnd()) > 300, 'the reader stays where they are')
    await tab.page.getByRole('button', { name: 'New messages' }).click()
    assert.ok((await fromEnd()) < 50)
    await tab.context.close()
  })

  test('renames a conversation', async () => {
    const session = await newSession()
    await sayBefore(session, 'the old name [[reply:ok]]')
    const tab = await openChat({}, session)
    const { page } = tab
    const list = page.getByRole('navigation', { name: 'Conversations' })
    await list.getByRole('button', { name: /^Actions for “the old name/ }).click()
    await page.getByRole('menuitem', { name: 'Rename…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rename conversation' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Release notes')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await list.getByRole('link', { name: /^Release notes/ }).waitFor()
    await page.reload()
    await list.getByRole('link', { name: /^Release notes/ }).waitFor()
    await tab.context.close()
  })

  test('finds a conversation by the text of a message', async () => {
    for (let number = 0; number < 6; number += 1) await newSession()
    const session = await newSession()
    await sayBefore(session, 'first line\nabout pelicans [[reply:ok]]')
    const tab = await openChat()
    const aside = tab.page.getByRole('complementary', { name: 'Conversations' })
    const rows = aside.getByRole('navigation').getByRole('link')
    await rows.nth(6).waitFor()
    await aside.getByRole('searchbox', { name: 'Search conversations' }).fill('PELICANS')
    await rows.nth(1).waitFor({ state: 'detached' })
    assert.match((await rows.textContent()) ?? '', /^first line/)
    await aside.getByRole('searchbox').fill('no such text')
    await aside.getByText('No conversation contains “no such text”.').waitFor()
    await aside.getByRole('button', { name: 'Clear' }).click()
    await rows.nth(6).waitFor()
    await tab.context.close()
  })

  test('deletes a conversation with Undo', async () => {
    const session = await newSession()
    await sayBefore(session, 'delete me [[reply:ok]]')
    const tab = await openChat({}, session)
    const row = tab.page.getByRole('navigation', { name: 'Conversations' }).getByText('delete me')
    const remove = async () => {
      await row.hover()
      await tab.page.getByRole('button', { name: /Actions for “delete me/ }).click()
      await tab.page.getByRole('menuitem', { name: 'Delete' }).click()
      await row.waitFor({ state: 'detached' })
    }
    await remove()
    await tab.page.getByRole('button', { name: 'Undo' }).click()
    await row.waitFor()
    await remove()
    const deletion = tab.page.waitForResponse((reply) => reply.request().method() === 'DELETE')
    await tab.page
      .getByRole('button', { name: 'New conversation' })
      .or(tab.page.getByRole('link', { name: 'Home', exact: true }))
      .first()
      .click()
    assert.equal((await deletion).status(), 200)
    await tab.context.close()
  })

  test('follows a rename and a deletion of the agent', async () => {
    const [old, fresh] = ['qa-fate', 'qa-fate-renamed']
    await createAgent(bench().platform, old)
    const tab = await bench().open()
    await tab.goto(`/agents/${old}?tab=chat`)
    await composer(tab.page)
      .or(tab.page.getByRole('textbox', { name: `Message to ${old}` }))
      .waitFor()
    await bench().platform.request('POST', `/api/agents/${old}/stop`)
    await tab.page.getByText(`${old} is stopped.`).waitFor()
    await bench().platform.request('PUT', `/api/agents/${old}/rename`, { new_name: fresh })
    await tab.page.waitForURL(new RegExp(`/agents/${fresh}\\?tab=chat`))
    await tab.page.getByRole('heading', { name: fresh }).waitFor()
    await bench().platform.request('DELETE', `/api/agents/${fresh}`)
    await tab.page.getByText(`${fresh} is no longer available`).waitFor()
    await tab.goto('/agents/never-was')
    await tab.page.getByText('Agent “never-was” not found').waitFor()
    await tab.context.close()
  })
})
