/**
 * Git repositories of the one host that the configuration names: fetched into bare caches under the data
 * folder and read from git's objects. Nothing is checked out, so that links and hostile names in a repository
 * have no file system to reach into.
 *
 * Whatever can go wrong with somebody else's repository is a value; only faults of this machine are thrown.
 */
export type Git = {
  /** The address as it is kept: without `.git` and without a slash at its end. */
  address(text: string): GitOutcome<string>
  /** Null: a branch or tag may have this name. */
  checkRef(ref: GitRef): GitFailure | null
  /**
   * Brings what the ref names now into the cache. Answers its commit; an annotated tag answers the commit it
   * points to.
   */
  fetch(address: string, ref: GitRef, options?: FetchOptions): Promise<GitOutcome<{ commit: string }>>
  /** The branch that the host shows first. `ref_not_found` for a repository without a commit. */
  defaultBranch(address: string, options?: Omit<FetchOptions, 'maxBytes'>): Promise<GitOutcome<string>>
  /**
   * A folder of this machine as a repository of the cache, under an address of its own that begins with
   * `bundled:`. The same files give the same commit everywhere.
   */
  bundle(address: string, folder: string): Promise<GitOutcome<{ commit: string }>>
  /**
   * Takes away what nobody needs: caches that are not kept and were not used since, and in kept ones what no
   * ref and none of their commits holds. Whatever is missing later is fetched again.
   */
  prune(kept: ReadonlyMap<string, readonly string[]>, unusedSince: Date): Promise<Pruned>
  /** Everything in the commit, folders included, by path. `missing` when the cache does not hold it. */
  list(address: string, commit: string, options?: CallOptions): Promise<GitOutcome<TreeEntry[]>>
  /** The bytes of blobs by their SHA; `too_large` when they are together more than `maxBytes`. */
  read(
    address: string,
    blobs: readonly string[],
    options: CallOptions & { maxBytes: number },
  ): Promise<GitOutcome<Map<string, Buffer>>>
}

/** `commit` fetches by SHA, which hosts allow for what a ref has pointed to. */
export type GitRef = { kind: 'branch' | 'tag' | 'commit'; name: string }

export type TreeEntry = {
  /** As git has it, without a slash at its end; not checked: it may hold `..` or anything else. */
  path: string
  kind: 'file' | 'executable' | 'link' | 'submodule' | 'folder'
  /** Of the blob, the tree or the commit. */
  sha: string
  /** Bytes of a file or link; 0 otherwise. */
  size: number
}

/** Numbers of caches. */
export type Pruned = { removed: number; tidied: number }

export type CallOptions = { signal?: AbortSignal; timeoutSeconds?: number }
export type FetchOptions = CallOptions & {
  /** Sent as a header of the requests; stands in no argument, address or file. */
  token?: string | null
  /** Bounds what the host may send. */
  maxBytes?: number
}

export type GitOutcome<T> = { ok: true; value: T } | GitFailure
export type GitFailure = { ok: false; fault: GitFault; message: string }
/**
 * - `address_refused`: another host or protocol, credentials in the address, or one that leads into a network
 *   of this machine.
 * - `ref_refused`: no name that a branch or tag may have.
 * - `ref_not_found`, `not_found`: the repository has no such ref; there is no such repository, or it is private.
 * - `unreachable`: no connection, or an answer that is not git's.
 * - `timeout`, `too_large`: a bound of the call was reached.
 * - `missing`: not in the cache.
 * - `failed`: anything else that git says.
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
