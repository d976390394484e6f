/** A process that only fetches and lists for a test, so that its memory can be measured. */
import { createGit } from '../binary.ts'

process.on('message', async ({ baseUrl, folder, address }: FetchRequest) => {
  const git = createGit({ baseUrl, mayBeInner: true, folder, path: process.env.PATH ?? '' })
  const fetched = await git.fetch(address, { kind: 'branch', name: 'main' })
  const listed = fetched.ok ? await git.list(address, fetched.value.commit) : fetched
  const reply: FetchReply = listed.ok
    ? { outcome: 'ok', entries: listed.value.length }
    : { outcome: listed.fault, entries: 0 }
  process.send?.(reply)
})

export type FetchRequest = { baseUrl: string; folder: string; address: string }
export type FetchReply = { outcome: string; entries: number }
