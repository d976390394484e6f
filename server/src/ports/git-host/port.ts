import type { Secret } from '../../kit/secret.ts'

/** The API of the one git host that the configuration names: what git itself cannot do. */
export type GitHost = {
  /** Whose a token is. Null: the host refuses it. Throws `GitHostDown`. */
  login(token: Secret): Promise<string | null>
  /** Null: there is none, or it is not open to this token. Throws `GitHostDown`. */
  find(repository: string, token: Secret): Promise<HostedRepository | null>
  /** Makes an empty repository. Throws `GitHostDown`. */
  create(wanted: NewRepository, token: Secret): Promise<Created>
}

export type HostedRepository = { defaultBranch: string; isPrivate: boolean; mayPush: boolean }
export type NewRepository = { repository: string; isPrivate: boolean; description: string | null }
/** `refused`: the token may not make one there. `taken`: somebody has made it meanwhile. */
export type Created = { ok: true; repository: HostedRepository } | { ok: false; why: 'refused' | 'taken' }

/** The host does not answer, or not as one does; its text is not told. */
export class GitHostDown extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'GitHostDown'
  }
}
