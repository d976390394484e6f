import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxPieceLength, type TranscriptLine } from '@roost/contracts/link/transcript'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { accept, linked, resultOf, startRunPlatform } from '../../test/run-platform.ts'
import { createPieces } from './pieces.ts'

const lineOf = (text: string): TranscriptLine => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})

forEachDialect((_name, open) => {
  async function start() {
    const clock = createTestClock()
    const platform = await startRunPlatform({ db: await open(), clock })
    const on = platform.dispatch.handlers
    await accept(platform)
    const { runs } = await on.claim(linked, { t: 'claim', free: 1 })
    const { execution_id, claim_token, broker } = runs[0] ?? assert.fail('no run')
    const hold = { execution_id, claim_token }
    const sent: string[] = []
    platform.live.listen(execution_id, { changed() {}, partial: ({ text }) => sent.push(text) })
    const write = (text: string) => on.partial(linked, { t: 'partial', ...hold, kind: 'text', text })
    return { platform, clock, on, hold, sent, write, token: broker.token }
  }

  test('secrets are masked in pieces of any size', async () => {
    const { platform, on, hold, sent, write, token } = await start()
    platform.secrets.push('svc_mcp_very-secret-key')
    const said = `svc_mcp_very-secret-key, ${token}, svc_mcp_very`
    for (const text of said.match(/.{1,5}/g) ?? []) await write(text)
    await on.lines(linked, { t: 'lines', ...hold, from: 1, lines: [lineOf(said)] })
    assert.equal(sent.join(''), '[secret], [secret], ')
    await write('next')
    await on.result(linked, resultOf(hold))
    assert.equal(sent.at(-1), 'next', 'the held text is in the line')
  })

  test('a block that another process received meanwhile is not continued with its old start', async () => {
    const { platform, on, hold, sent } = await start()
    const write = (text: string, at: number) =>
      on.partial(linked, { t: 'partial', ...hold, kind: 'text', text, at })
    const open = () => platform.live.openPieces(hold.execution_id).map(({ text }) => text)
    const settled = () => on.lines(linked, { t: 'lines', ...hold, from: 1, lines: [] })
    await write('Hel', 0)
    await write('lo', 3)
    await settled()
    assert.deepEqual(open(), ['Hello'])
    await write('there', 10)
    await settled()
    assert.deepEqual(open(), [], 'pieces are missing')
    // The line of the block went to the other process.
    await write('New', 0)
    await settled()
    assert.deepEqual(open(), ['New'])
    assert.deepEqual(sent, ['Hel', 'lo', 'there', 'New'])
  })

  test('pieces that come faster than any model writes are dropped; the next ones and the line are not', async () => {
    const { platform, clock, on, hold, sent } = await start()
    const piece = 'x'.repeat(maxPieceLength)
    const write = (text: string, at: number) =>
      on.partial(linked, { t: 'partial', ...hold, kind: 'text', text, at })
    for (let count = 0; count < 50; count += 1) await write(piece, count * piece.length)
    assert.ok(sent.length > 0 && sent.length < 10, `${sent.length}`)
    assert.deepEqual(platform.live.openPieces(hold.execution_id), [], 'pieces are missing')
    await clock.advance(4)
    await write('later.', 50 * piece.length)
    assert.equal(sent.at(-1), 'later.')
    await on.lines(linked, { t: 'lines', ...hold, from: 1, lines: [lineOf('whole')] })
    await write('New.', 0)
    assert.deepEqual(
      platform.live.openPieces(hold.execution_id).map(({ text }) => text),
      ['New.'],
    )
  })

  test('a piece is omitted when the secrets cannot be read', async () => {
    const { platform, hold } = await start()
    const sent: string[] = []
    const pieces = createPieces({
      clock: platform.clock,
      live: { partial: (_id, { text }) => sent.push(text), closed: () => sent.push('closed') },
      log: silentLog,
      secretsOf: () => Promise.reject(new Error('the database is away')),
      runOf: () => platform.row(hold.execution_id),
    })
    await pieces.add(linked.agentId, { ...hold, kind: 'text', text: 'who knows what' })
    await pieces.closed(hold.execution_id, ['text'])
    assert.deepEqual(sent, ['closed'])
  })
})
