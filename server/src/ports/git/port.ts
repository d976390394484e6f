/**
 * Git repositories of the configured host, fetched into bare caches below the data folder and read from git's
 * objects. Nothing is checked out, so hostile links and names cannot reach a file system.
 *
 * Errors of foreign repositories are return values; only local failures are thrown.
 */
export type Git = {
  /** Returns the normalized address, without `.git` or a trailing slash. */
  address(text: string): GitOutcome<string>
  /** Null when the name is valid for a branch or tag. */
  checkRef(ref: GitRef): GitFailure | null
  /**
   * Fetches the ref's current commit into the cache and returns it; an annotated tag returns the commit it
   * points to.
   */
  fetch(address: string, ref: GitRef, options?: FetchOptions): Promise<GitOutcome<{ commit: string }>>
  /** Returns the host's default branch. `ref_not_found` for an empty repository. */
  defaultBranch(address: string, options?: Omit<FetchOptions, 'maxBytes'>): Promise<GitOutcome<string>>
  /**
   * Stores a local folder as a repository of the cache, with an address that starts with `bundled:`. Equal
   * files give equal commits everywhere.
   */
  bundle(address: string, folder: string): Promise<GitOutcome<{ commit: string }>>
  /**
   * Deletes unused caches, and in kept ones all objects outside the given commits and refs. Missing data is
   * fetched again later.
   */
  prune(kept: ReadonlyMap<string, readonly string[]>, unusedSince: Date): Promise<Pruned>
  /** Lists the commit's entries including folders, sorted by path. `missing` when not in the cache. */
  list(address: string, commit: string, options?: CallOptions): Promise<GitOutcome<TreeEntry[]>>
  /** Reads blobs by SHA; `too_large` when their total exceeds `maxBytes`. */
  read(
    address: string,
    blobs: readonly string[],
    options: CallOptions & { maxBytes: number },
  ): Promise<GitOutcome<Map<string, Buffer>>>
}

/** `commit` fetches by SHA, which hosts allow for commits that a ref has pointed to. */
export type GitRef = { kind: 'branch' | 'tag' | 'commit'; name: string }

export type TreeEntry = {
  /** The path as stored by git, without a trailing slash. Not validated: it may contain `..`. */
  path: string
  kind: 'file' | 'executable' | 'link' | 'submodule' | 'folder'
  /** SHA of the blob, tree or commit. */
  sha: string
  /** Bytes of a file or link; 0 otherwise. */
  size: number
}

/** Numbers of caches. */
export type Pruned = { removed: number; tidied: number }

export type CallOptions = { signal?: AbortSignal; timeoutSeconds?: number }
export type FetchOptions = CallOptions & {
  /** Sent as a request header; never part of an argument, address or file. */
  token?: string | null
  /** Limits what the host may send. */
  maxBytes?: number
}

export type GitOutcome<T> = { ok: true; value: T } | GitFailure
export type GitFailure = { ok: false; fault: GitFault; message: string }
/**
 * - `address_refused`: another host or protocol, credentials in the address, or an inner network.
 * - `ref_refused`: an invalid name for a branch or tag.
 * - `ref_not_found`, `not_found`: no such ref; no such repository, or it is private.
 * - `unreachable`: no connection, or not a git response.
 * - `timeout`, `too_large`: a limit was exceeded.
 * - `missing`: not in the cache.
 * - `failed`: any other error of git.
 */
export type GitFault =
  | 'address_refused'
  | 'ref_refused'
  | 'ref_not_found'
  | 'not_found'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'missing'
  | 'failed'
