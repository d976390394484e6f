/** Chat with a real agent: live, across reloads, and with errors. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { chat, createAgent } from '../acceptance/steps.ts'
import {
  assertAccessible,
  type Bench,
  lookAt,
  openBench,
  reviewPage,
  saveScreenshot,
  type Tab,
  themes,
  widths,
} from './bench.ts'
import { reportFailure } from './evidence.ts'
import { focusOn } from './focus.ts'
import { gateOf } from './gates.ts'

const name = 'qa-chat-page'
const path = (session: string) => `/agents/${name}?tab=chat&session=${session}`
let bench: Bench
before(async () => {
  bench = await openBench()
  await createAgent(bench.platform, name)
  // The first turn starts the runtime, so it takes longer than later ones.
  assert.equal((await chat(bench.platform, name, '[[reply:ready]]')).status, 200)
})
after(async () => {
  await bench?.[Symbol.asyncDispose]()
})
afterEach((context) => reportFailure(bench, context))

const composer = (page: Page) => page.getByRole('textbox', { name: `Message to ${name}` })
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' })
const turn = (page: Page, index = 0) =>
  messages(page).getByRole('list', { name: 'Conversation' }).locator('> li').nth(index)
const copyAnswer = (inside: Locator) => inside.getByRole('button', { name: 'Copy answer' })

async function openChat(options: Parameters<Bench['open']>[0] = {}, session = 'new'): Promise<Tab> {
  const tab = await bench.open(options)
  await tab.goto(path(session))
  await composer(tab.page).waitFor()
  return tab
}

async function sendMessage({ page }: Tab, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** Creates a conversation before any page is opened. */
async function newSession(): Promise<string> {
  const reply = await bench.platform.request('POST', `/api/agents/${name}/sessions`, {})
  assert.equal(reply.status, 201, reply.text)
  return reply.json.id
}
async function sayBefore(session: string, message: string, status = 200): Promise<void> {
  const reply = await chat(bench.platform, name, message, { path: `sessions/${session}/message` })
  assert.equal(reply.status, status, reply.text)
}

/** Lengths of the first answer while it grows, until it is `whole` or has grown that many times. */
async function growth(page: Page, until: string | number): Promise<number[]> {
  return page.evaluate((expected) => {
    const lengths = new Set<number>()
    return new Promise<number[]>((resolve) => {
      const look = () => {
        const paragraphs = [...document.querySelectorAll('main li p')]
        // The message begins with its directives.
        const answer = paragraphs
          .map(({ textContent }) => textContent)
          .find((text) => text?.startsWith('piece1'))
        if (answer) lengths.add(answer.length)
        if (answer?.trim() === expected || lengths.size === expected) resolve([...lengths])
      }
      new MutationObserver(look).observe(document.body, {
        childList: true,
        subtree: true,
        characterData: true,
      })
      look()
    })
  }, until)
}

describe('a turn', () => {
  test('streams its answer and shows its cost', async () => {
    const tab = await openChat()
    const words = Array.from({ length: 40 }, (_, index) => `piece${index + 1}`).join(' ')
    await sendMessage(tab, `[[drip:200]] [[reply:${words}]]`)
    const lengths = await growth(tab.page, words)
    assert.ok(lengths.length >= 4, `the answer grew in ${lengths.length} steps: ${lengths}`)
    assert.deepEqual(
      lengths.slice(0, 4),
      lengths.slice(0, 4).toSorted((a, b) => a - b),
    )
    await copyAnswer(turn(tab.page)).waitFor()
    assert.match(await turn(tab.page).innerText(), /claude-\S+\s+[\d.]+ m?s\s+\$/)
    assert.match(tab.page.url(), /session=(?!new)\w+/, 'the conversation has an address')
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('folds its tool calls with input and output', async () => {
    const tab = await openChat()
    await sendMessage(tab, '[[tool:Bash:echo from-the-tool]] [[reply:all done]]')
    await copyAnswer(turn(tab.page)).waitFor()
    const fold = turn(tab.page).getByRole('button', { name: '1 tool call' })
    assert.equal(await turn(tab.page).getByText('from-the-tool', { exact: true }).count(), 0)
    await fold.click()
    await turn(tab.page).getByRole('button', { name: /^Bash/ }).click()
    await turn(tab.page).getByText('from-the-tool', { exact: true }).first().waitFor()
    // After a reload the steps are fetched; the answer is the same.
    await tab.page.reload()
    await turn(tab.page).getByRole('button', { name: '1 tool call' }).click()
    await turn(tab.page).getByRole('button', { name: /^Bash/ }).waitFor()
    assert.equal(await messages(tab.page).getByText('all done', { exact: true }).count(), 1)
    await tab.context.close()
  })

  test('shows the partial answer after a reload and keeps streaming', async () => {
    const tab = await openChat()
    const words = Array.from({ length: 80 }, (_, index) => `piece${index + 1}`).join(' ')
    await sendMessage(tab, `[[drip:2000]] [[reply:${words}]]`)
    await messages(tab.page)
      .getByText(/^piece1 .*piece6/)
      .waitFor()
    await tab.page.reload()
    const begun = messages(tab.page).getByText(/^piece1 .*piece6/)
    await begun.waitFor()
    const lengths = await growth(tab.page, 3)
    assert.deepEqual(
      lengths,
      lengths.toSorted((a, b) => a - b),
    )
    assert.equal(await begun.count(), 1)
    await tab.page.getByRole('button', { name: 'Stop', exact: true }).click()
    await turn(tab.page).getByText('Stopped', { exact: true }).waitFor()
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })

  test('continues through a reload without loss and duplicates', async () => {
    const tab = await openChat()
    const gate = gateOf(bench.platform, name, 'reload')
    await sendMessage(tab, `${gate.directive} [[reply:survived the reload]]`)
    await turn(tab.page)
      .getByText(/Using Bash/)
      .waitFor()
    await tab.page.reload()
    await turn(tab.page)
      .getByText(/Using Bash|Thinking|Starting/)
      .first()
      .waitFor()
    await gate.open()
    await copyAnswer(turn(tab.page)).waitFor()
    assert.equal(await messages(tab.page).getByText('survived the reload', { exact: true }).count(), 1)
    assert.equal(await turn(tab.page, 1).count(), 0, 'one turn')
    await tab.context.close()
  })

  test('ends when stopped and keeps the partial answer', async () => {
    const tab = await openChat()
    await sendMessage(tab, `[[drip:5000]] [[reply:${'slowly '.repeat(200)}]]`)
    await messages(tab.page)
      .locator('p', { hasText: /^slowly slowly/ })
      .first()
      .waitFor()
    await tab.page.getByRole('button', { name: 'Stop', exact: true }).click()
    await turn(tab.page).getByText('Stopped', { exact: true }).waitFor()
    assert.ok(
      (await messages(tab.page)
        .locator('p', { hasText: /^slowly slowly/ })
        .count()) > 0,
    )
    await tab.page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
    await tab.page.reload()
    await turn(tab.page).getByText('Stopped', { exact: true }).waitFor()
    await tab.context.close()
  })

  test('of another tab appears automatically', async () => {
    const session = await newSession()
    const [one, other] = [await openChat({}, session), await openChat({}, session)]
    const gate = gateOf(bench.platform, name, 'both')
    await sendMessage(one, `${gate.directive} [[reply:seen in both]]`)
    await turn(other.page)
      .getByText(/Using Bash|Starting|Thinking/)
      .first()
      .waitFor()
    await gate.open()
    await copyAnswer(turn(other.page)).waitFor()
    assert.equal(await messages(other.page).getByText('seen in both', { exact: true }).count(), 1)
    await one.context.close()
    await other.context.close()
  })

  test('waits in the queue while another one is running', async () => {
    const tab = await openChat()
    const gate = gateOf(bench.platform, name, 'line')
    await sendMessage(tab, `${gate.directive} [[reply:the first]]`)
    await turn(tab.page)
      .getByText(/Using Bash/)
      .waitFor()
    await sendMessage(tab, '[[reply:the second]]')
    await turn(tab.page, 1)
      .getByText(/Queued at position 1/)
      .waitFor()
    await gate.open()
    await copyAnswer(turn(tab.page, 1)).waitFor()
    const order = await messages(tab.page)
      .getByText(/^the (first|second)$/)
      .allInnerTexts()
    assert.deepEqual(order, ['the first', 'the second'])
    await tab.context.close()
  })
})

describe('errors', () => {
  test('a failed turn shows its error and can be retried', async () => {
    const tab = await openChat()
    await sendMessage(tab, '[[fail-first:browser-retry:1]] [[reply:better now]]')
    const alert = turn(tab.page).getByRole('alert')
    await alert.waitFor()
    assert.match(await alert.innerText(), /The agent failed[\s\S]*agent_error/)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await turn(tab.page, 1).getByText('better now', { exact: true }).waitFor()
    await tab.context.close()
  })

  test('a refused message stays with the reason and can be edited', async () => {
    const tab = await openChat()
    await tab.page.route('**/message', (route) =>
      route.fulfill({
        status: 429,
        contentType: 'application/json',
        body: JSON.stringify({ detail: 'Too many executions are waiting.', error: 'queue_full' }),
      }),
    )
    await sendMessage(tab, 'keep these words')
    const alert = turn(tab.page).getByRole('alert')
    await alert.waitFor()
    assert.match(await alert.innerText(), /Not sent[\s\S]*Too many executions are waiting[\s\S]*queue_full/)
    await alert.getByRole('button', { name: 'Edit' }).click()
    assert.equal(await composer(tab.page).inputValue(), 'keep these words')
    assert.equal(await turn(tab.page).count(), 0)
    await tab.context.close()
  })

  test('a hostile answer is rendered as text', async () => {
    const tab = await openChat()
    await sendMessage(
      tab,
      `[[reply:<img src=x onerror="document.title='taken'"> <script>document.title='taken'</script> [x](javascript:document.title='taken')]]`,
    )
    await copyAnswer(turn(tab.page)).waitFor()
    assert.equal(await messages(tab.page).locator('img, script, a[href^="javascript"]').count(), 0)
    assert.match(await messages(tab.page).innerText(), /<img src=x/)
    assert.notEqual(await tab.page.title(), 'taken')
    assert.deepEqual(tab.faults, [])
    await tab.context.close()
  })
})

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

  test('are refused by name before sending', async () => {
    const tab = await openChat()
    const files = tab.page.getByTestId('attachments')
    await files.setInputFiles([
      { name: 'run.exe', mimeType: 'application/x-msdownload', buffer: Buffer.from('MZ') },
      { name: 'big.txt', mimeType: 'text/plain', buffer: Buffer.alloc(5 * 1024 * 1024 + 1, 'a') },
      { name: 'fine.txt', mimeType: 'text/plain', buffer: Buffer.from('fine') },
    ])
    const alert = tab.page.getByRole('alert')
    await alert.waitFor()
    assert.match(await alert.innerText(), /“run\.exe” is not an image[\s\S]*“big\.txt” is too large/)
    const chips = tab.page.getByRole('list', { name: 'Files to send' })
    assert.equal(await chips.getByRole('listitem').count(), 1)
    await tab.page.getByRole('button', { name: 'Remove fine.txt' }).click()
    await chips.waitFor({ state: 'detached' })
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
    // The link to the run is in between.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await turn(page).getByText('The agent answered directly').waitFor()
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
      .or(tab.page.getByRole('link', { name: 'Dashboard' }))
      .first()
      .click()
    assert.equal((await deletion).status(), 200)
    await tab.context.close()
  })

  test('follows a rename and a deletion of the agent', async () => {
    const [old, fresh] = ['qa-fate', 'qa-fate-renamed']
    await createAgent(bench.platform, old)
    const tab = await bench.open()
    await tab.goto(`/agents/${old}?tab=chat`)
    await composer(tab.page)
      .or(tab.page.getByRole('textbox', { name: `Message to ${old}` }))
      .waitFor()
    await bench.platform.request('POST', `/api/agents/${old}/stop`)
    await tab.page.getByText(`${old} is stopped.`).waitFor()
    await bench.platform.request('PUT', `/api/agents/${old}/rename`, { new_name: fresh })
    await tab.page.waitForURL(new RegExp(`/agents/${fresh}\\?tab=chat`))
    await tab.page.getByRole('heading', { name: fresh }).waitFor()
    await bench.platform.request('DELETE', `/api/agents/${fresh}`)
    await tab.page.getByText(`${fresh} is no longer available`).waitFor()
    await tab.goto('/agents/never-was')
    await tab.page.getByText('Agent “never-was” not found').waitFor()
    await tab.context.close()
  })
})

describe('screenshots for a reviewer', () => {
  test('empty, full and failed', async () => {
    await reviewPage(bench, {
      name: 'chat-empty',
      path: path('new'),
      ready: (page) => page.getByText(`Chat with ${name}`).waitFor(),
    })
    const full = await newSession()
    await sayBefore(
      full,
      'Summarise the night.\n\n## The night in short\n\nThree runs, **one** failed:\n\n| run | state |\n|---|---|\n| digest | ok |\n| backup | failed |\n\n```ts\nconst runs = await list()\n```\n\n[[tool:Bash:ls -la]] [[echo]]',
    )
    await reviewPage(bench, {
      name: 'chat-full',
      path: path(full),
      ready: async (page) => {
        await turn(page).getByRole('button', { name: '1 tool call' }).click()
        await turn(page).getByRole('button', { name: /^Bash/ }).waitFor()
      },
    })
    const failed = await newSession()
    await sayBefore(failed, '[[autherror]] Read my mail.', 503)
    await reviewPage(bench, {
      name: 'chat-failed',
      path: path(failed),
      ready: (page) => turn(page).getByRole('alert').waitFor(),
    })
  })

  test('streaming', async () => {
    const tab = await openChat()
    const { page } = tab
    await sendMessage(
      tab,
      `Tell me a long story. [[tool:Bash:date]] [[drip:20000]] [[reply:${'Once upon a time there was an agent. '.repeat(100)}]]`,
    )
    await messages(page)
      .locator('p', { hasText: /^Once upon a time there/ })
      .first()
      .waitFor()
    for (const [screen, width] of Object.entries(widths)) {
      await page.setViewportSize({ width, height: 740 })
      for (const theme of themes) {
        const look = lookAt(theme, width)
        if (!look) continue
        await page.emulateMedia({ colorScheme: theme })
        await page.locator(`html[data-theme=${theme}]`).waitFor()
        await saveScreenshot(tab, `chat-streaming-${theme}-${screen}`)
        await assertAccessible(tab, `chat-streaming, ${theme}, ${screen}`, look)
      }
    }
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await turn(page).getByText('Stopped', { exact: true }).waitFor()
    await tab.context.close()
  })
})
