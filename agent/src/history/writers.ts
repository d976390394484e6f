import { developerId, type Identities } from '../processes/identity.ts'
import { processesOf } from '../processes/tree.ts'

/** Whether anything may have written to the workspace since the last record. If not, the scan is skipped. */
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
  mayHaveWritten(): Promise<boolean>
}

export type Mark = { writes: number; isQuiet: boolean }

/** `running` returns the processes of users who may write. */
export function createWriters(
  identities: Pick<Identities, 'canSwitch'>,
  running: () => number[] = () => processesOf((uid) => uid >= developerId),
): Writers {
  let active = 0
  let mayLogIn = false
  /** Counts starts and ends. */
  let writes = 0
  let recordedWrites = -1

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
    // A process that a turn left behind may write between two scans.
    mark: () => ({ writes, isQuiet: active === 0 && !mayLogIn && running().length === 0 }),
    recorded(mark) {
      recordedWrites = mark.isQuiet ? mark.writes : -1
    },
    async mayHaveWritten() {
      // With one Unix user, the processes of turns cannot be told from those of the container.
      if (active > 0 || mayLogIn || writes !== recordedWrites) return true
      return !(await identities.canSwitch()) || running().length > 0
    },
  }
}
