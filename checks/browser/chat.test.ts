/** Turns with a real agent: live, across reloads, and with errors. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, closeTab, lookAt, reviewPage, saveScreenshot, themes, widths } from './bench.ts'
import { composer, copyAnswer, messages, name, path, sendMessage, setUpChat, turn } from './chat-setup.ts'
import { gateOf } from './gates.ts'

const { bench, openChat, newSession, sayBefore } = setUpChat()

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
    await closeTab(tab)
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
    await closeTab(tab)
  })

  test('continues through a reload without loss and duplicates', async () => {
    const tab = await openChat()
    const gate = gateOf(bench().platform, name, 'reload')
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
    const gate = gateOf(bench().platform, name, 'both')
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
    const gate = gateOf(bench().platform, name, 'line')
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

  test('an answered message is asked again, or edited without losing unsent text', async () => {
    const tab = await openChat()
    await sendMessage(tab, '[[reply:the answer]]')
    await copyAnswer(turn(tab.page)).waitFor()
    await turn(tab.page).getByRole('button', { name: 'Ask again' }).click()
    await copyAnswer(turn(tab.page, 1)).waitFor()
    assert.equal(await messages(tab.page).getByText('the answer', { exact: true }).count(), 2)

    await composer(tab.page).fill('unsent')
    await turn(tab.page).getByRole('button', { name: 'Edit and send again' }).click()
    assert.equal(await composer(tab.page).inputValue(), '[[reply:the answer]]\n\nunsent')
    await sendMessage(tab, '[[reply:another answer]]')
    await messages(tab.page).getByText('another answer', { exact: true }).waitFor()
    await closeTab(tab)
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
    await closeTab(tab)
  })
})

describe('screenshots for a reviewer', () => {
  test('empty, full and failed', async () => {
    await reviewPage(bench(), {
      name: 'chat-empty',
      path: path('new'),
      ready: (page) => page.getByText(`Chat with ${name}`).waitFor(),
    })
    const full = await newSession()
    await sayBefore(
      full,
      'Summarise the night.\n\n## The night in short\n\nThree runs, **one** failed:\n\n| run | state |\n|---|---|\n| digest | ok |\n| backup | failed |\n\n```ts\nconst runs = await list()\n```\n\n[[tool:Bash:ls -la]] [[echo]]',
    )
    await reviewPage(bench(), {
      name: 'chat-full',
      path: path(full),
      ready: async (page) => {
        await turn(page).getByRole('button', { name: '1 tool call' }).click()
        await turn(page).getByRole('button', { name: /^Bash/ }).waitFor()
      },
    })
    const failed = await newSession()
    await sayBefore(failed, '[[autherror]] Read my mail.', 503)
    await reviewPage(bench(), {
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
