import { developerId, type Identities } from '../processes/identity.ts'
import { processesOf } from '../processes/tree.ts'

/** What may have changed in the workspace since the last record, so that scans are skipped or cover a part. */
export type Writers = {
  /** Called before a turn, terminal or file call starts that may write. */
  began(): void
  /** Called after it has ended. */
  ended(): void
  /** The SSH server starts processes that this program does not see. */
  allowLogins(isAllowed: boolean): void
  /** Identifies the state at the start of a scan. */
  mark(): Mark
  /** The scan that started at this mark was recorded. */
  recorded(mark: Mark): void
  mayHaveChanged(): Promise<Changed>
}

/** `hidden`: the hidden part of the workspace, see `ListingParts`. */
export type Changed = 'nothing' | 'hidden' | 'all'

export type Mark = { writes: number; running: Changed }

export type WriterProcesses = {
  /** Processes of users who may write, without `except` if the workspace's owner runs them. */
  running(except: readonly number[]): number[]
  /** CLIs that wait for the next message of their conversation: they write to their own folders, which are hidden. */
  idle(): number[]
}

export function createWriters(
  identities: Pick<Identities, 'canSwitch'>,
  idle: WriterProcesses['idle'],
  running: WriterProcesses['running'] = (except) =>
    processesOf((uid, pid) => uid >= developerId && !(uid === developerId && except.includes(pid))),
): Writers {
  let active = 0
  let mayLogIn = false
  /** Counts starts and ends. */
  let writes = 0
  /** `all`: the next scan covers everything. */
  let recorded: Mark = { writes: 0, running: 'all' }

  function ofProcesses(): Changed {
    const waiting = idle()
    if (running(waiting).length > 0) return 'all'
    return waiting.length > 0 ? 'hidden' : 'nothing'
  }

  return {
    began() {
      active += 1
      writes += 1
    },
    ended() {
      active -= 1
      writes += 1
    },
    allowLogins(isAllowed) {
      // A login of before may still run.
      if (mayLogIn && !isAllowed) writes += 1
      mayLogIn = isAllowed
    },
    // What runs during a scan may write between it and the next one.
    mark: () => ({ writes, running: active > 0 || mayLogIn ? 'all' : ofProcesses() }),
    recorded(mark) {
      recorded = mark
    },
    async mayHaveChanged() {
      // With one Unix user, the processes of turns cannot be told from those of the container.
      if (active > 0 || mayLogIn || writes !== recorded.writes || !(await identities.canSwitch()))
        return 'all'
      const both = [recorded.running, ofProcesses()]
      return both.includes('all') ? 'all' : both.includes('hidden') ? 'hidden' : 'nothing'
    },
  }
}
