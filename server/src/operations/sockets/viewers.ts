import { type IdentityChanges, isTouched, type SignedIn } from '../../identity/access/index.ts'
import type { Log } from '../../ports/log.ts'
import { type CallerOf, credentialOf, nameOf } from './credential.ts'
import type { Viewer } from './visibility.ts'

/** Somebody who looks on, with one credential and any number of sockets. */
export type Watching<Socket> = { viewer: Viewer; sockets: Set<Socket> }

export type Viewers<Socket> = {
  /** The socket sees as this caller from now on; looked up anew, since the caller may be a moment old. */
  join(caller: SignedIn, socket: Socket): Watching<Socket>
  leave(socket: Socket, watching: Watching<Socket>): void
  all(): Iterable<Watching<Socket>>
  /** Nobody of them has changed since it was looked up. */
  areKnown(): boolean
  /** Resolves when everybody who changed was looked up anew, or is gone. */
  known(): Promise<void>
  /** Looks everybody up: messages about changes may have been lost. */
  recheck(): void
}

export type ViewersDeps<Socket> = {
  callerOf: CallerOf
  permittedTargets(agentId: string): Promise<ReadonlySet<string>>
  changes: Pick<IdentityChanges, 'on'>
  log: Log
  /** `ended`: the credential or its account; `unknown`: it could not be looked up after a change. */
  onLost(socket: Socket, why: 'ended' | 'unknown'): void
}

/** `doubtful`: something has changed. `due`: to make sure that nothing has. */
type Standing = 'known' | 'due' | 'doubtful'
type Held<Socket> = Watching<Socket> & { standing: Standing; checking: Promise<void> | null }

export function createViewers<Socket>(deps: ViewersDeps<Socket>): Viewers<Socket> {
  const { callerOf, permittedTargets, changes, log, onLost } = deps
  const held = new Map<string, Held<Socket>>()
  const doubtful = new Set<Held<Socket>>()

  changes.on((change) => {
    for (const watching of held.values()) {
      if (isTouched(watching.viewer.caller, change)) doubt(watching)
    }
  })

  function doubt(watching: Held<Socket>): void {
    watching.standing = 'doubtful'
    doubtful.add(watching)
    void check(watching)
  }

  function check(watching: Held<Socket>): Promise<void> {
    watching.checking ??= lookUp(watching).finally(() => {
      watching.checking = null
    })
    return watching.checking
  }

  async function lookUp(watching: Held<Socket>): Promise<void> {
    while (watching.standing !== 'known' && watching.sockets.size > 0) {
      const before = watching.standing
      watching.standing = 'known'
      try {
        const caller = await callerOf(credentialOf(watching.viewer.caller))
        if (!caller) return end(watching, 'ended')
        watching.viewer = { caller, permitted: await permittedOf(caller) }
      } catch (error) {
        log.warn({ err: error }, 'who looks on at a socket could not be looked up')
        // Fails closed after a change, and open while there is no sign of one: the next look tells.
        if (before === 'doubtful') return end(watching, 'unknown')
      }
    }
    doubtful.delete(watching)
  }

  function end(watching: Held<Socket>, why: 'ended' | 'unknown'): void {
    doubtful.delete(watching)
    forget(watching)
    const sockets = [...watching.sockets]
    watching.sockets.clear()
    for (const socket of sockets) onLost(socket, why)
  }

  function forget(watching: Watching<Socket>): void {
    const name = nameOf(credentialOf(watching.viewer.caller))
    if (held.get(name) === watching) held.delete(name)
  }

  async function permittedOf(caller: SignedIn): Promise<ReadonlySet<string>> {
    const isAgent = caller.kind === 'key' && caller.key.scope === 'agent' && caller.key.agent_id !== null
    return isAgent && caller.key.agent_id !== null ? permittedTargets(caller.key.agent_id) : none
  }

  return {
    join(caller, socket) {
      const name = nameOf(credentialOf(caller))
      const watching = held.get(name) ?? {
        viewer: { caller, permitted: none },
        sockets: new Set(),
        standing: 'known',
        checking: null,
      }
      watching.sockets.add(socket)
      held.set(name, watching)
      doubt(watching)
      return watching
    },
    leave(socket, watching) {
      watching.sockets.delete(socket)
      if (watching.sockets.size === 0) forget(watching)
    },
    all: () => held.values(),
    areKnown: () => doubtful.size === 0,
    async known() {
      while (doubtful.size > 0) await Promise.all([...doubtful].map(check))
    },
    recheck() {
      for (const watching of held.values()) {
        if (watching.standing === 'known') watching.standing = 'due'
        void check(watching)
      }
    },
  }
}

const none: ReadonlySet<string> = new Set()
