import type { HistoryEntry } from '@roost/contracts/link/history'

/**
 * Records of workspaces, outside the reach of agents. Ids of agents and records consist of small letters, digits and
 * dashes. Paths are bytes as characters (latin1); the root has the empty path.
 */
export type WorkspaceHistory = {
  /** Identity of the store, the same in all processes that use it. */
  id(): Promise<string>
  /**
   * Starts a record of an agent. `base` is the record that the new one starts from, of the same agent unless `baseAgent`
   * names another one: the caller then decides what the agent gets. Throws `UnknownRecord`.
   */
  open(options: { agent: string; base: string | null; baseAgent?: string; maxBytes: number }): Promise<Draft>
  /** Lists one folder, sorted by name; null if there is no such record or folder. Throws `FolderTooLarge`. */
  list(record: RecordId, folder: string): Promise<StoredEntry[] | null>
  /** One entry; null if the record has none at this path. The root has none. */
  entry(record: RecordId, path: string): Promise<StoredEntry | null>
  /** Like `entry` for many paths, in their order and much faster. Throws `UnknownRecord`. */
  entries(record: RecordId, paths: readonly string[]): Promise<(StoredEntry | null)[]>
  /** Bytes of the contents of these files and links, in their order; 0 for folders. */
  sizes(entries: readonly StoredEntry[]): Promise<number[]>
  /**
   * Unified diff of two files from records, as git prints it; a missing side is empty. Throws `DiffTooLarge` for contents
   * above `maxDiffBytes` and for a comparison that takes too long.
   */
  textDiff(before: StoredEntry | null, after: StoredEntry | null): Promise<TextDiff>
  /** Content of a file or target of a link; null if the record has none at this path. */
  read(record: RecordId, path: string): Promise<AsyncIterable<Buffer> | null>
  /**
   * Like `read` for many paths, in their order and much faster. Read each item's pieces to the end, or not at all, before
   * the next item. Throws `UnknownRecord`.
   */
  readAll<T extends { path: string }>(
    record: RecordId,
    items: readonly T[],
  ): AsyncIterable<{ item: T; pieces: AsyncIterable<Buffer> | null }>
  /**
   * Every entry of a record but its root, folders before their content. With `withContents`, the size of a file or link
   * is known, and its bytes follow it. Throws `UnknownRecord`.
   */
  walk(record: RecordId, options: { withContents: boolean }): AsyncIterable<Walked | Buffer>
  /** Differences between two records. Throws `UnknownRecord`. */
  changes(from: RecordId, to: RecordId): Promise<Change[]>
  /** Bytes on disk of everything that the agent's records need. Content shared with other agents counts too. */
  usedBytes(agent: string): Promise<number>
  /** The same of these records, whose shared content counts once. */
  bytesOf(records: readonly RecordId[]): Promise<number>
  /** Bytes on disk of the whole store. */
  size(): Promise<number>
  /** Bytes on disk that no record needs. */
  garbage(): Promise<number>
  /**
   * Stores a record once more, for another agent. A record that exists is replaced. Throws `UnknownRecord`.
   */
  copy(from: RecordId, to: RecordId): Promise<void>
  /** Every stored record. */
  records(): Promise<RecordId[]>
  /** Removes records; unknown ones are ignored. Their bytes are freed by `collect`. */
  remove(agent: string, records: readonly string[]): Promise<void>
  /** Removes every record of an agent, also those that no row names. */
  removeAll(agent: string): Promise<void>
  /** Frees what no record needs. New records wait meanwhile, for minutes in a large store. */
  collect(): Promise<void>
  /**
   * Called from time to time. Collects if that frees enough, or a day after records were removed. Otherwise, keeps reading
   * fast by joining small files of the store.
   */
  maintain(): Promise<void>
  close(): Promise<void>
}

/** All entries of a folder are held in memory while it is read. */
export const maxFolderEntries = 300_000

/** Larger files are not compared line by line. */
export const maxDiffBytes = 1024 * 1024 - 1

/** `isBinary`: a side is not text, so there are no lines. */
export type TextDiff = { isBinary: true } | { isBinary: false; text: string }

/** For backups of a running installation. */
export type HistoryCopies = {
  /** Copies every complete record into a new folder. Returns false without a store. */
  copyTo(folder: string): Promise<boolean>
}

export type RecordId = { agent: string; record: string }

/** `content` is equal for equal contents; for folders it also covers everything below. */
export type StoredEntry = Omit<HistoryEntry, 'size'> & { content: string }

export type Walked = { entry: StoredEntry; size: number }

/** `attributes`: permissions, owner or kind of storage. A renamed file has the same content at another path. */
export type Change = {
  path: string
  change: 'added' | 'changed' | 'attributes' | 'deleted' | 'renamed'
  /** Earlier path of a renamed file. */
  from?: string
  before: StoredEntry | null
  after: StoredEntry | null
}

/**
 * A record that is not complete yet. Folders come before their content, and the removal of a path before a new entry at
 * this path.
 */
export type Draft = {
  remove(path: string): Promise<void>
  folder(entry: HistoryEntry): Promise<void>
  /**
   * Takes the content from the base if it has this object (SHA-256, as git names it) at `from`. Returns false if it does
   * not: then the content must be sent. The name of an object alone never gives access to it.
   */
  keep(entry: HistoryEntry, objectName: string, from: string): Promise<boolean>
  /**
   * Takes what the base has at the path of each entry, if kind and size are equal. The caller vouches for it: no digest
   * is compared. Returns for each entry whether it was taken.
   */
  keepUntouched(entries: readonly HistoryEntry[]): Promise<boolean[]>
  /** Stores content. Content and names together are at most `maxBytes` of the draft; more throws `HistoryFull`. */
  put(entry: HistoryEntry, content: AsyncIterable<Buffer>): Promise<void>
  /** Makes the record visible, complete or not at all. Throws if it exists. `isChanged`: it differs from the base. */
  commit(record: string): Promise<{ receivedBytes: number; isChanged: boolean }>
  /** Discards a draft that was not committed. */
  [Symbol.asyncDispose](): Promise<void>
}

export class UnknownRecord extends Error {
  constructor(record: string) {
    super(`There is no record "${record}".`)
    this.name = 'UnknownRecord'
  }
}

export class DiffTooLarge extends Error {
  constructor() {
    super('The contents are too large to be compared.')
    this.name = 'DiffTooLarge'
  }
}

export class HistoryFull extends Error {
  constructor() {
    super('The content exceeds the quota of the history.')
    this.name = 'HistoryFull'
  }
}

/** A folder of the workspace has more than `maxFolderEntries`. */
export class FolderTooLarge extends Error {
  constructor() {
    super(`A folder has more than ${maxFolderEntries.toLocaleString('en')} entries.`)
    this.name = 'FolderTooLarge'
  }
}

/** What the agent sent is not a tree: a path without its folder, or an invalid name. */
export class InvalidTree extends Error {
  constructor(path: string) {
    super(`${JSON.stringify(path.slice(0, 200))} is not a valid path of the record.`)
    this.name = 'InvalidTree'
  }
}
