import { type IdentityChanges, isTouched, type SignedIn } from '../../identity/access/index.ts'
import type { Log } from '../../ports/log.ts'
import { type CallerOf, credentialOf, mayWatch, nameOf } from './credential.ts'
import type { Viewer } from './visibility.ts'

/** A viewer with one credential and any number of sockets. */
export type Watcher<Socket> = { viewer: Viewer; sockets: Set<Socket> }

export type Viewers<Socket> = {
  /** Adds a socket of this caller. Resolves the credential again, because the caller may be outdated. */
  join(caller: SignedIn, socket: Socket): Watcher<Socket>
  leave(socket: Socket, watcher: Watcher<Socket>): void
  all(): Iterable<Watcher<Socket>>
  /** True when no viewer has an unchecked change. */
  areKnown(): boolean
  /** Resolves when all changed viewers are resolved again or removed. */
  known(): Promise<void>
  /** Resolves all viewers again, because change messages can be lost. */
  recheck(): void
}

export type ViewersDeps<Socket> = {
  callerOf: CallerOf
  permittedTargets(agentId: string): Promise<ReadonlySet<string>>
  changes: Pick<IdentityChanges, 'on'>
  log: Log
  /** `ended`: the credential or account has ended. `unknown`: it could not be resolved after a change. */
  onLost(socket: Socket, why: 'ended' | 'unknown'): void
}

/** `changed`: must be resolved again. `due`: a periodic check without a known change. */
type Freshness = 'known' | 'due' | 'changed'
type Entry<Socket> = Watcher<Socket> & { freshness: Freshness; checking: Promise<void> | null }

export function createViewers<Socket>(deps: ViewersDeps<Socket>): Viewers<Socket> {
  const { callerOf, permittedTargets, changes, log, onLost } = deps
  const entries = new Map<string, Entry<Socket>>()
  const changed = new Set<Entry<Socket>>()

  changes.on((change) => {
    for (const watcher of entries.values()) {
      if (isTouched(watcher.viewer.caller, change)) markChanged(watcher)
    }
  })

  function markChanged(watcher: Entry<Socket>): void {
    watcher.freshness = 'changed'
    changed.add(watcher)
    void check(watcher)
  }

  function check(watcher: Entry<Socket>): Promise<void> {
    watcher.checking ??= resolve(watcher).finally(() => {
      watcher.checking = null
    })
    return watcher.checking
  }

  async function resolve(watcher: Entry<Socket>): Promise<void> {
    while (watcher.freshness !== 'known' && watcher.sockets.size > 0) {
      const before = watcher.freshness
      watcher.freshness = 'known'
      try {
        const caller = await callerOf(credentialOf(watcher.viewer.caller))
        if (!caller || !mayWatch(caller)) return end(watcher, 'ended')
        watcher.viewer = { caller, permitted: await permittedOf(caller) }
      } catch (error) {
        log.warn({ err: error }, 'the viewer of a socket could not be resolved')
        // Fails closed after a change. Without one, the next check decides.
        if (before === 'changed') return end(watcher, 'unknown')
      }
    }
    changed.delete(watcher)
  }

  function end(watcher: Entry<Socket>, why: 'ended' | 'unknown'): void {
    changed.delete(watcher)
    forget(watcher)
    const sockets = [...watcher.sockets]
    watcher.sockets.clear()
    for (const socket of sockets) onLost(socket, why)
  }

  function forget(watcher: Watcher<Socket>): void {
    const name = nameOf(credentialOf(watcher.viewer.caller))
    if (entries.get(name) === watcher) entries.delete(name)
  }

  async function permittedOf(caller: SignedIn): Promise<ReadonlySet<string>> {
    const isAgent = caller.kind === 'key' && caller.key.scope === 'agent' && caller.key.agent_id !== null
    return isAgent && caller.key.agent_id !== null ? permittedTargets(caller.key.agent_id) : noAgents
  }

  return {
    join(caller, socket) {
      const name = nameOf(credentialOf(caller))
      const watcher = entries.get(name) ?? {
        viewer: { caller, permitted: noAgents },
        sockets: new Set(),
        freshness: 'known',
        checking: null,
      }
      watcher.sockets.add(socket)
      entries.set(name, watcher)
      markChanged(watcher)
      return watcher
    },
    leave(socket, watcher) {
      watcher.sockets.delete(socket)
      if (watcher.sockets.size === 0) forget(watcher)
    },
    all: () => entries.values(),
    areKnown: () => changed.size === 0,
    async known() {
      while (changed.size > 0) await Promise.all([...changed].map(check))
    },
    recheck() {
      for (const watcher of entries.values()) {
        if (watcher.freshness === 'known') watcher.freshness = 'due'
        void check(watcher)
      }
    },
  }
}

const noAgents: ReadonlySet<string> = new Set()
