/** Makes up to ten records and prints a character for each step: `node endless-records.ts FOLDER AGENT`. */
import { openGitStore } from '../git-store.ts'

const [folder = '', agent = ''] = process.argv.slice(2)
const store = await openGitStore({ folder, path: process.env.PATH ?? '' })
const attributes = { mode: 0o644, owner: true, size: 0, sparse: false }

for (let record = 1; record <= 10; record += 1) {
  const base = record === 1 ? null : `r${record - 1}`
  const draft = await store.open({ agent, base, maxBytes: Number.MAX_SAFE_INTEGER })
  if (base === null) await draft.folder({ ...attributes, path: 'folder', kind: 'folder', mode: 0o755 })
  for (let file = 0; file < 20; file += 1) {
    await draft.put({ ...attributes, path: `folder/${file}`, kind: 'file' }, content(record))
    process.stdout.write('.')
  }
  await draft.commit(`r${record}`)
  process.stdout.write('!')
}
await store.close()

async function* content(record: number): AsyncGenerator<Buffer> {
  yield Buffer.from(`${record}\n`.repeat(1000))
}
