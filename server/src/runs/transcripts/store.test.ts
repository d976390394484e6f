import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import type { NumberedLine } from './rules.ts'
import { type TranscriptTables, transcriptStore } from './store.ts'

forEachDialect((_, open) => {
  test('a page has at most 200 lines and ends with the line that reaches 1 MiB', async () => {
    await using db = await open()
    const store = transcriptStore(db)
    const add = async (id: string, texts: readonly string[]) => {
      const rows = texts.map((line, index) => ({ execution_id: id, n: index + 1, line }))
      for (const row of rows) {
        await db.withTables<TranscriptTables>().insertInto('execution_lines').values(row).execute()
      }
    }
    const pages = async (id: string) => {
      const found: number[][] = []
      for (;;) {
        const page = await store.page(id, found.at(-1)?.at(-1) ?? 0)
        if (page.length === 0) return found
        found.push(page.map(({ n }) => n))
      }
    }
    await add('small', Array(201).fill('{}'))
    // Two bytes per character: the limit counts bytes.
    const large = 'é'.repeat(300_000)
    await add('large', [large, large, '{}', large, large, 'x'.repeat(2_000_000), '{}'])
    const small = Array.from({ length: 201 }, (_, index) => index + 1)
    assert.deepEqual(await pages('small'), [small.slice(0, 200), [201]])
    assert.deepEqual(await pages('large'), [[1, 2], [3, 4, 5], [6], [7]])
    assert.deepEqual(await pages('none'), [])
    assert.ok((await store.page('large', 4))[0]?.text === large)
  })

  const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 8, 0, second)).toISOString()
  const call = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } })
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'a file' })
  const lineOf = (n: number, type: 'assistant' | 'user', content: object[]): NumberedLine => ({
    ...{ n, line: { type, message: { content }, _n: n, _ts: at(n) } as never, text: '{}' },
  })
  const run = { id: 'r1', agent_id: 'a1' }

  test('tool calls get their results, each once, and the rest ends with the run', async () => {
    await using db = await open()
    const store = transcriptStore(db)
    await store.add(run, [lineOf(1, 'assistant', [call('t1'), call('t2'), call('t1'), call('t3')])])
    await store.add(run, [lineOf(4, 'user', [result('t2'), result('none')])])
    await store.add(run, [lineOf(5, 'user', [result('t2'), result('t1')])])
    const listed = async () =>
      (await store.toolCalls('r1')).map(({ id, success, duration_ms }) => [id, success, duration_ms])
    assert.deepEqual(await listed(), [
      ['t1', true, 4000],
      ['t2', true, 3000],
      ['t3', null, null],
    ])
    await store.endTools('r1', await store.openTools('r1'), at(9))
    assert.deepEqual((await listed()).at(-1), ['t3', false, 8000])
  })

  test('a run records at most 10,000 tool calls, and ends them all', async () => {
    await using db = await open()
    const store = transcriptStore(db)
    const lines = Array.from({ length: 205 }, (_, index) =>
      lineOf(
        index + 1,
        'assistant',
        Array.from({ length: 50 }, (_, count) => call(`${index}.${count}`)),
      ),
    )
    await store.add(run, lines.slice(0, 199))
    await store.add(run, lines.slice(199, 203))
    await store.add(run, lines.slice(203))
    assert.equal(await store.countTools('r1'), 10_000)
    await store.endTools('r1', await store.openTools('r1'), at(9))
    assert.deepEqual(await store.openTools('r1'), [])
  })
})
