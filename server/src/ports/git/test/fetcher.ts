/** A process that does nothing but to fetch and list for a test, so that its memory is that of this work. */
import { createGit } from '../binary.ts'

process.on('message', async ({ baseUrl, folder, address }: FetchAsked) => {
  const git = createGit({ baseUrl, mayBeInner: true, folder, path: process.env.PATH ?? '' })
  const fetched = await git.fetch(address, { kind: 'branch', name: 'main' })
  const listed = fetched.ok ? await git.list(address, fetched.value.commit) : fetched
  const told: FetchTold = listed.ok
    ? { outcome: 'ok', entries: listed.value.length }
    : { outcome: listed.fault, entries: 0 }
  process.send?.(told)
})

export type FetchAsked = { baseUrl: string; folder: string; address: string }
export type FetchTold = { outcome: string; entries: number }
