import type { Secret } from '../../kit/secret.ts'

/** The API of the configured git host, for operations outside git itself. */
export type GitHost = {
  /** Returns the token's login, or null if the host refuses it. Throws `GitHostDown`. */
  login(token: Secret): Promise<string | null>
  /** Null when the repository does not exist or is not visible to this token. Throws `GitHostDown`. */
  find(repository: string, token: Secret): Promise<HostedRepository | null>
  /** Creates an empty repository. Throws `GitHostDown`. */
  create(repository: NewRepository, token: Secret): Promise<Created>
}

export type HostedRepository = { defaultBranch: string; isPrivate: boolean; mayPush: boolean }
export type NewRepository = { repository: string; isPrivate: boolean; description: string | null }
/** `refused`: the token lacks permission. `taken`: the repository exists already. */
export type Created = { ok: true; repository: HostedRepository } | { ok: false; why: 'refused' | 'taken' }

/** The host is unreachable or its response is invalid. Its text is not shown. */
export class GitHostDown extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'GitHostDown'
  }
}
