import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
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
})
