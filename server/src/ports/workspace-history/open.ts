import type { WorkspaceHistory } from './port.ts'

/** Opens the store at its first use. A failure is thrown there, and the next use tries again. */
export function openLazily(open: () => Promise<WorkspaceHistory>): WorkspaceHistory {
  let opened: Promise<WorkspaceHistory> | null = null
  const store = () => {
    opened ??= open().catch((error: unknown) => {
      opened = null
      throw error
    })
    return opened
  }
  return {
    id: async () => (await store()).id(),
    open: async (options) => (await store()).open(options),
    list: async (record, folder) => (await store()).list(record, folder),
    entry: async (record, path) => (await store()).entry(record, path),
    sizes: async (entries) => (await store()).sizes(entries),
    textDiff: async (before, after) => (await store()).textDiff(before, after),
    read: async (record, path) => (await store()).read(record, path),
    async *readAll(record, items) {
      yield* (await store()).readAll(record, items)
    },
    async *walk(record, options) {
      yield* (await store()).walk(record, options)
    },
    entries: async (record, paths) => (await store()).entries(record, paths),
    changes: async (from, to) => (await store()).changes(from, to),
    usedBytes: async (agent) => (await store()).usedBytes(agent),
    bytesOf: async (records) => (await store()).bytesOf(records),
    size: async () => (await store()).size(),
    garbage: async () => (await store()).garbage(),
    copy: async (from, to) => (await store()).copy(from, to),
    records: async () => (await store()).records(),
    remove: async (agent, records) => (await store()).remove(agent, records),
    removeAll: async (agent) => (await store()).removeAll(agent),
    collect: async () => (await store()).collect(),
    maintain: async () => (await store()).maintain(),
    close: async () => (await opened)?.close(),
  }
}
